//! What the style of this repository asks for, as far as a machine can tell.
//!
//! Each check takes the files and gives findings, one line each. It comes with a test that runs it over the
//! repository and with one that plants what it must find, so that no check can pass by looking away.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod anchors;
mod code;
mod codes;
mod docs;
mod head;
mod layers;
mod leftovers;
mod length;
mod licence;
mod links;
mod lints;
mod log_lines;
mod names;
mod registry;
mod scripts;
mod shell_blocks;
mod sleeps;
mod supply_chain;
mod tree;
mod words;

use tree::Source;

/// What is wrong and where, as `path:line: what`.
type Finding = String;

fn finding(source: &Source, line: usize, what: &str) -> Finding {
    format!("{}:{line}: {what}", source.path)
}

fn check_repository(check: impl Fn(&[Source]) -> Vec<Finding>) {
    let findings = check(tree::repository());
    assert!(findings.is_empty(), "{} to put right:\n{}", findings.len(), findings.join("\n"));
}

/// Runs a check over one made-up file and compares the lines it complains about.
fn check_planted(check: impl Fn(&[Source]) -> Vec<Finding>, path: &str, text: &str, lines: &[usize]) {
    let findings = check(&[Source::new(path, text)]);
    let places: Vec<String> = lines.iter().map(|line| format!("{path}:{line}: ")).collect();
    let as_planted = findings.len() == places.len()
        && findings.iter().zip(&places).all(|(finding, place)| finding.starts_with(place.as_str()));
    assert!(as_planted, "planted at {places:?} in\n{text}\nbut found {findings:#?}");
}
