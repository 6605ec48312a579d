//! Links to a part of a page name a heading that is there.

use super::links::{resolve, targets};
use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};
use std::collections::{BTreeMap, BTreeSet};

fn check(files: &[Source]) -> Vec<Finding> {
    let pages: Vec<&Source> = files.iter().filter(|source| source.is_markdown()).collect();
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|page| (page.path.as_str(), anchors(page))).collect();
    pages.iter().flat_map(|page| lost(page, &anchors)).collect()
}

fn lost(page: &Source, anchors: &BTreeMap<&str, BTreeSet<String>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in prose(page) {
        for (file, part) in targets(text).into_iter().filter_map(place) {
            let path = if file.is_empty() { Some(page.path.clone()) } else { resolve(&page.path, file) };
            let known = path.and_then(|path| anchors.get(path.as_str()));
            if known.is_some_and(|known| !known.contains(part)) {
                findings.push(finding(page, line, &format!("there is no heading for `{file}#{part}`")));
            }
        }
    }
    findings
}

/// The file and the part of it that a link means; nothing for one to another host, or to a whole file.
fn place(target: &str) -> Option<(&str, &str)> {
    let target = target.split_whitespace().next()?.trim_matches(['<', '>']);
    let (file, part) = target.split_once('#')?;
    (!target.contains("://")).then_some((file, part))
}

/// The headings of a page as links name them: small letters, no punctuation, and a hyphen for each blank.
fn anchors(page: &Source) -> BTreeSet<String> {
    let headings = prose(page).filter(|(_, line)| line.starts_with('#'));
    let headings = headings.map(|(_, line)| line.trim_start_matches('#').trim());
    let named = headings.map(|heading| {
        let kept = heading.chars().filter(|one| one.is_alphanumeric() || " -_".contains(*one));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    });
    named.collect()
}

/// Lines that are in no example.
fn prose(page: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut in_example = false;
    page.lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_example ^= is_fence;
        !in_example && !is_fence
    })
}

#[test]
fn links_to_a_part_of_a_page_lead_there() {
    check_repository(check);
}

#[test]
fn a_part_that_is_not_there_is_found() {
    let page = "# A page, of `code`\n[here](#a-page-of-code) [a](a.md#a-page-of-code) [b](b.md#gone)\n[no](#gone)\n\
        ```\n# not a heading\n[x](#x)\n```\n[no](#not-a-heading) [out](https://example.com/#x)\n";
    check_planted(check, "docs/a.md", page, &[3, 8]);
}
