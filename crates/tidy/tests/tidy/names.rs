//! A module is named after its idea. A name that fits anything collects everything.

use super::code::code_only;
use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

const NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"];

fn check(files: &[Source]) -> Vec<Finding> {
    files.iter().filter(|source| source.is_rust()).flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let said =
        |line: usize, name: &str| finding(source, line, &format!("`{name}` is no idea; name it after one"));
    let parts = source.path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    let by_path = parts.filter(|part| is_banned(part)).map(|part| said(1, part));
    let code = code_only(&source.text);
    let inline = (1..).zip(code.lines()).filter_map(|(line, text)| Some((line, inline_module(text)?)));
    let by_module = inline.filter(|(_, name)| is_banned(name)).map(|(line, name)| said(line, name));
    by_path.chain(by_module).collect()
}

fn is_banned(name: &str) -> bool {
    NAMES.contains(&name)
}

/// A module in a file of its own is judged by its path.
fn inline_module(code: &str) -> Option<&str> {
    let (head, _) = code.split_once('{')?;
    let mut words = head.split_whitespace().rev();
    let name = words.next()?;
    (words.next()? == "mod").then_some(name)
}

#[test]
fn modules_are_named_after_ideas() {
    check_repository(check);
}

#[test]
fn a_module_named_after_nothing_is_found() {
    check_planted(check, "src/utils.rs", "", &[1]);
    check_planted(check, "src/common/mod.rs", "", &[1]);
    check_planted(check, "tests/helpers/a.rs", "", &[1]);
    check_planted(check, "src/a.rs", "\npub(crate) mod manager {\n}\n", &[2]);
    check_planted(check, "src/a.rs", "mod tests {\n    // mod misc {\n}\n", &[]);
    check_planted(check, "src/common_name.rs", "", &[]);
}
