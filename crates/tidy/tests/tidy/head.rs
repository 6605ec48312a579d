//! Every source file says at its top what it is for.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

fn check(files: &[Source]) -> Vec<Finding> {
    let mute = |source: &&Source| source.is_rust() && !says_something(&source.text);
    let findings = files.iter().filter(mute);
    findings.map(|source| finding(source, 1, "say at the top, in `//!`, what the file is for")).collect()
}

fn says_something(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|says| !says.trim().is_empty())
}

#[test]
fn every_source_file_says_what_it_is_for() {
    check_repository(check);
}

#[test]
fn a_file_without_a_head_is_found() {
    check_planted(check, "src/a.rs", "use b;\n//! Too late.\n", &[1]);
    check_planted(check, "src/a.rs", "//!\n//! Late.\n", &[1]);
    check_planted(check, "src/main.rs", "fn main() {}\n", &[1]);
    check_planted(check, "src/a.rs", "", &[1]);
    check_planted(check, "src/a.rs", "//! What it is for.\n", &[]);
    check_planted(check, "a.sql", "SELECT 1;\n", &[]);
}
