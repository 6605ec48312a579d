//! Links between files of the repository lead somewhere.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

/// A link to a file, as it is written.
pub(super) struct Link<'a> {
    line: usize,
    pub(super) target: &'a str,
}

fn check(files: &[Source]) -> Vec<Finding> {
    let pages = files.iter().filter(|source| source.is_markdown());
    pages.flat_map(|page| dead_links(page, files)).collect()
}

fn dead_links(page: &Source, files: &[Source]) -> Vec<Finding> {
    let dead = |link: &Link| match resolve(&page.path, link.target) {
        Some(path) => !exists(&path, files),
        None => true,
    };
    let links = links(&page.text).into_iter().filter(dead);
    links.map(|link| finding(page, link.line, &format!("`{}` leads nowhere", link.target))).collect()
}

fn exists(path: &str, files: &[Source]) -> bool {
    let is_below = |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    path.is_empty() || files.iter().any(|file| file.path == path || is_below(&file.path))
}

/// The path from the root that a link on a page means, or nothing if it leads out of the repository.
pub(super) fn resolve(page: &str, target: &str) -> Option<String> {
    let from_root = target.strip_prefix('/');
    let mut path: Vec<&str> = if from_root.is_some() { vec![] } else { page.split('/').collect() };
    path.pop();
    for part in from_root.unwrap_or(target).split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()?),
            name => path.push(name),
        }
    }
    Some(path.join("/"))
}

/// The links of a page to files: neither to other hosts nor within the page, and none in examples.
pub(super) fn links(text: &str) -> Vec<Link<'_>> {
    let mut in_example = false;
    let mut links = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            in_example = !in_example;
        } else if !in_example {
            links.extend(targets(text).into_iter().filter_map(file_of).map(|target| Link { line, target }));
        }
    }
    links
}

/// The forms a link has in Markdown, and in the HTML that Markdown lets through.
pub(super) fn targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        let openings = text.match_indices(opening).filter(|(at, _)| !is_in_code_span(text, *at));
        targets.extend(openings.filter_map(|(at, _)| text[at + opening.len()..].split(closing).next()));
    }
    let definition = text.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    targets.extend(definition.map(|(_, target)| target));
    targets
}

fn is_in_code_span(text: &str, at: usize) -> bool {
    text[..at].matches('`').count() % 2 == 1
}

/// Takes off a title and a place within the file.
fn file_of(target: &str) -> Option<&str> {
    let target = target.split_whitespace().next()?.trim_matches(['<', '>']);
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:") || target.starts_with('#');
    if is_elsewhere { None } else { target.split('#').next() }
}

#[test]
fn links_lead_somewhere() {
    check_repository(check);
}

#[test]
fn a_dead_link_is_found() {
    let check = |text: &str, lines: &[usize]| {
        let files = |page: &[Source]| {
            let page = page.iter().map(|source| Source::new(&source.path, &source.text));
            check(&page.chain([Source::new("docs/b.md", ""), Source::new("LICENSE", "")]).collect::<Vec<_>>())
        };
        check_planted(files, "docs/a.md", text, lines);
    };
    check("[b](b.md) and [c](c.md)\n", &[1]);
    check("[b](b.md#part \"title\"), [part](#part), [LICENSE](../LICENSE), [LICENSE](/LICENSE)\n", &[]);
    check("[root](..), [docs](../docs/), [here](./b.md)\n", &[]);
    check("[out](../../b.md)\n[root](/b.md)\n", &[1, 2]);
    check("[there](https://example.com/c.md), <mailto:a@example.com>\n", &[]);
    check("![picture](c.png)\n<img src=\"c.png\">\n[c]: c.md\n[b]: <b.md>\n", &[1, 2, 3]);
    check("```\n[c](c.md)\n```\n`[c](c.md)` [c](c.md)\n", &[4]);
}
