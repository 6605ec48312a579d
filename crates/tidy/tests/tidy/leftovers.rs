//! Nothing is left for later: no markers of unfinished work, no debugging aids, no test that is not run.

use super::code::{code_only, is_identifier};
use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

/// Put together from parts, so that this file does not find itself.
const MARKERS: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// Looked for in code only; this file has them in literals.
const MACROS: &[&str] = &["todo!", "unimplemented!", "dbg!"];
const IGNORED_TEST: &str = "#[ignore";

fn check(files: &[Source]) -> Vec<Finding> {
    // Cargo writes the lock file, and checksums in it may spell anything.
    files.iter().filter(|source| source.path != "Cargo.lock").flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let code = if source.is_rust() { code_only(&source.text) } else { String::new() };
    let code_lines = code.lines().chain(std::iter::repeat(""));
    let left = |((line, text), code): ((usize, &str), &str)| {
        let what = leftover(text, code)?;
        Some(finding(source, line, &format!("{what} is left over")))
    };
    source.lines().zip(code_lines).filter_map(left).collect()
}

fn leftover(text: &str, code: &str) -> Option<&'static str> {
    let marker = MARKERS.iter().find(|marker| has_word(text, marker));
    let in_code = || MACROS.iter().find(|name| has_word(code, name));
    let ignored = || code.contains(IGNORED_TEST).then_some(&IGNORED_TEST);
    marker.or_else(in_code).or_else(ignored).copied()
}

/// Whether the word is there on its own, not as part of a longer one.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let ends_apart = word.ends_with('!') || !text[at + word.len()..].starts_with(is_identifier);
        ends_apart && !text[..at].ends_with(is_identifier)
    })
}

#[test]
fn nothing_is_left_over() {
    check_repository(check);
}

#[test]
fn what_is_left_over_is_found() {
    for marker in MARKERS {
        check_planted(check, "src/a.rs", &format!("fn a() {{}}\n// {marker}: b\n"), &[2]);
        check_planted(check, "docs/a.md", &format!("{marker}\n"), &[1]);
        check_planted(check, "scripts/a", &format!("mktemp a.{marker}{marker} x{marker}\n"), &[]);
    }
    check_planted(check, "src/a.rs", "fn a() {\n    todo!()\n}\n", &[2]);
    check_planted(check, "src/a.rs", "fn a() { unimplemented!(\"b\") }\n", &[1]);
    check_planted(check, "src/a.rs", "fn a() {\n    dbg!(b);\n    f(\"dbg!(b)\");\n}\n", &[2]);
    check_planted(check, "src/a.rs", "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n", &[2]);
    check_planted(check, "src/a.rs", "#[test]\n#[ignore]\nfn a() {}\n", &[2]);
}
