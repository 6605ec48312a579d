//! Files and functions stay short enough to be read at once.
//!
//! What is over a limit is in a table with its length today. It may not grow, and when it shrinks the table
//! follows, so that it never grows back.

use super::code::{code_only, functions, tests_begin};
use super::tree::Source;
use super::{Finding, check_repository};
use std::collections::BTreeMap;

/// A file, without the module of tests at its end.
const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// `(path, lines)`.
const LONG_FILES: &[(&str, usize)] = &[];
/// `(path::function, lines)`.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];

type Lengths = BTreeMap<String, usize>;

fn file_lengths(files: &[Source]) -> Lengths {
    let length = |source: &Source| {
        let code = code_only(&source.text);
        let tests = tests_begin(source, &code).filter(|line| *line > 1);
        tests.map_or_else(|| source.text.lines().count(), |line| line - 1)
    };
    files
        .iter()
        .filter(|source| source.is_rust())
        .map(|source| (source.path.clone(), length(source)))
        .collect()
}

/// Of functions with one name in one file, the longest counts.
fn function_lengths(files: &[Source]) -> Lengths {
    let mut lengths = Lengths::new();
    for source in files.iter().filter(|source| source.is_rust()) {
        for function in functions(&code_only(&source.text)) {
            let longest = lengths.entry(format!("{}::{}", source.path, function.name)).or_default();
            *longest = function.lines.max(*longest);
        }
    }
    lengths
}

fn ratchet(lengths: &Lengths, max: usize, table: &[(&str, usize)]) -> Vec<Finding> {
    let entry = |name: &str| table.iter().find(|(known, _)| *known == name).map(|(_, lines)| *lines);
    let long = lengths.iter().filter_map(|(name, lines)| match entry(name) {
        None if *lines > max => Some(format!("{name}: {lines} lines, at most {max}; make it two ideas")),
        Some(known) if *lines > known && *lines > max => {
            Some(format!("{name}: grew from {known} to {lines} lines"))
        }
        Some(known) if *lines < known && *lines > max => {
            Some(format!("{name}: shrank to {lines} lines; say so in the table in place of {known}"))
        }
        _ => None,
    });
    let is_long = |name: &str| lengths.get(name).is_some_and(|lines| *lines > max);
    let stale = table.iter().filter(|(name, _)| !is_long(name));
    long.chain(stale.map(|(name, _)| format!("{name}: no longer over {max}; take it off the table")))
        .collect()
}

#[test]
fn files_stay_short() {
    check_repository(|files| ratchet(&file_lengths(files), FILE_LINES_MAX, LONG_FILES));
}

#[test]
fn functions_stay_short() {
    check_repository(|files| ratchet(&function_lengths(files), FUNCTION_LINES_MAX, LONG_FUNCTIONS));
}

#[test]
fn the_ratchet_turns_one_way() {
    let check = |lines: usize, table: &[(&str, usize)], said: &str| {
        let findings = ratchet(&Lengths::from([("a.rs".to_owned(), lines)]), 10, table);
        assert_eq!(findings.join("; "), said, "{lines} lines against {table:?}");
    };
    check(10, &[], "");
    check(11, &[], "a.rs: 11 lines, at most 10; make it two ideas");
    check(12, &[("a.rs", 12)], "");
    check(13, &[("a.rs", 12)], "a.rs: grew from 12 to 13 lines");
    check(11, &[("a.rs", 12)], "a.rs: shrank to 11 lines; say so in the table in place of 12");
    check(10, &[("a.rs", 12)], "a.rs: no longer over 10; take it off the table");
    check(10, &[("gone.rs", 12)], "gone.rs: no longer over 10; take it off the table");
}

#[test]
fn a_file_is_measured_without_its_tests_and_a_file_of_tests_with_them() {
    let check = |path: &str, text: &str, lines: usize| {
        let lengths = file_lengths(&[Source::new(path, text)]);
        assert_eq!(lengths, Lengths::from([(path.to_owned(), lines)]), "{text}");
    };
    check("src/a.rs", "//! A.\nfn a() {}\n#[cfg(test)]\nmod tests {\n}\n", 2);
    check("src/a.rs", "//! A.\n#[cfg(test)]\nmod tests;\nfn a() {}\n", 4);
    check("src/a/tests.rs", "//! A.\n#[test]\nfn a() {}\n", 3);
}

#[test]
fn the_longest_function_of_a_name_counts() {
    let source = Source::new("a.rs", "impl A { fn new() {\n\n} }\nimpl B { fn new() {} }\n");
    assert_eq!(function_lengths(&[source]), Lengths::from([("a.rs::new".to_owned(), 3)]));
}
