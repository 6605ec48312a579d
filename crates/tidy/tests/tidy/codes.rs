//! Every code that a refusal can have is explained under a heading of its own, where its `docs` leads to.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};
use std::collections::BTreeSet;

const PAGE: &str = "docs/status-codes.md";

/// How refusals are made; the first text that follows is the code.
const MADE_BY: [&str; 2] = ["ApiError::new(", "ApiError::conflict("];

fn check(files: &[Source]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|source| source.path == PAGE) else { return vec![] };
    let explained: BTreeSet<&str> = page.text.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let api = files.iter().filter(|source| source.is_rust() && source.path.contains("src/api/"));
    let used: Vec<(&Source, usize, &str)> = api.flat_map(codes).collect();
    let unexplained = used.iter().filter(|(_, _, code)| !explained.contains(code));
    let unexplained =
        unexplained.map(|(at, line, code)| finding(at, *line, &format!("`{code}` has no heading in {PAGE}")));
    let idle = explained.iter().filter(|heading| !used.iter().any(|(_, _, code)| code == *heading));
    let idle = idle.map(|heading| finding(page, 1, &format!("no refusal has the code `{heading}`")));
    unexplained.chain(idle).collect()
}

fn codes(source: &Source) -> Vec<(&Source, usize, &str)> {
    let made = MADE_BY.iter().flat_map(|how| source.text.match_indices(how).map(|(at, how)| at + how.len()));
    let code = |at: usize| {
        let call = source.text[at..].split(')').next()?;
        let code = call.split('"').nth(1)?;
        let legal = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        legal.then(|| (source, 1 + source.text[..at].matches('\n').count(), code))
    };
    made.filter_map(code).collect()
}

#[test]
fn every_code_is_explained() {
    check_repository(check);
}

#[test]
fn a_code_without_a_heading_is_found() {
    let with_page = |page: &'static str| {
        move |files: &[Source]| {
            let file = files.iter().map(|source| Source::new(&source.path, &source.text));
            check(&file.chain([Source::new(PAGE, page)]).collect::<Vec<_>>())
        }
    };
    let code = "ApiError::new(\n    StatusCode::GONE,\n    \"gone\",\n    \"It is gone.\")\n";
    check_planted(with_page("### gone\n"), "crates/a/src/api/b.rs", code, &[]);
    check_planted(with_page("| gone |\n"), "crates/a/src/api/b.rs", code, &[1]);
}
