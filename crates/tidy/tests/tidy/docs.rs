//! Every page in `docs/` can be reached from the README, over other pages if need be.

use super::links::{links, resolve};
use super::tree::Source;
use super::{Finding, check_repository, finding};
use std::collections::BTreeSet;

const START: &str = "README.md";

fn check(files: &[Source]) -> Vec<Finding> {
    let reached = reached_from(START, files);
    let is_page = |source: &&Source| source.path.starts_with("docs/") && source.is_markdown();
    let lost = files.iter().filter(is_page).filter(|page| !reached.contains(&page.path));
    lost.map(|page| finding(page, 1, "no page that the README leads to links here")).collect()
}

fn reached_from(start: &str, files: &[Source]) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut to_read = vec![start.to_owned()];
    while let Some(path) = to_read.pop() {
        let Some(page) = files.iter().find(|source| source.path == path && source.is_markdown()) else {
            continue;
        };
        if reached.insert(path.clone()) {
            to_read.extend(links(&page.text).iter().filter_map(|link| resolve(&path, link.target)));
        }
    }
    reached
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    check_repository(check);
}

#[test]
fn a_page_that_nobody_links_is_found() {
    let check = |pages: &[(&str, &str)], lost: &[&str]| {
        let files: Vec<_> = pages.iter().map(|(path, text)| Source::new(path, text)).collect();
        let found: Vec<_> =
            check(&files).iter().map(|finding| finding.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(found, lost, "{pages:?}");
    };
    check(&[("README.md", "[a](docs/a.md)"), ("docs/a.md", "[b](b.md), [a](a.md)"), ("docs/b.md", "")], &[]);
    check(&[("README.md", "[a](docs/a.md)"), ("docs/a.md", ""), ("docs/b.md", "[a](a.md)")], &["docs/b.md"]);
    check(&[("docs/a.md", "")], &["docs/a.md"]);
    check(&[("README.md", "Nothing.")], &[]);
}
