//! Every line of the log that somebody should look at is explained under a heading of its own.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};
use std::collections::BTreeSet;

const PAGE: &str = "docs/log-lines.md";

const WRITTEN_BY: [&str; 2] = ["tracing::warn!(", "tracing::error!("];

fn check(files: &[Source]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|source| source.path == PAGE) else { return vec![] };
    let explained: BTreeSet<&str> = page.text.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let shipped = files.iter().filter(|source| source.is_rust() && source.path.contains("/src/"));
    let unexplained =
        shipped.flat_map(messages).filter(|(_, _, message)| !explained.contains(message.as_str()));
    unexplained
        .map(|(at, line, message)| finding(at, line, &format!("`{message}` has no heading in {PAGE}")))
        .collect()
}

/// The messages of a file: the last text of each call, up to where something is put in.
fn messages(source: &Source) -> Vec<(&Source, usize, String)> {
    let calls =
        WRITTEN_BY.iter().flat_map(|how| source.text.match_indices(how).map(|(at, how)| at + how.len()));
    let message = |at: usize| {
        let last = texts(&source.text[at..]).pop()?;
        let fixed = last.split('{').next().unwrap_or_default().trim_end_matches([':', ' ']);
        let line = 1 + source.text[..at].matches('\n').count();
        (!fixed.is_empty()).then(|| (source, line, fixed.to_owned()))
    };
    calls.filter_map(message).collect()
}

/// The texts of a call that has just been opened, up to its end.
fn texts(call: &str) -> Vec<&str> {
    let (mut texts, mut depth, mut begun) = (Vec::new(), 1, None);
    for (at, letter) in call.char_indices() {
        match (begun, letter) {
            (Some(from), '"') => {
                texts.push(&call[from..at]);
                begun = None;
            }
            (Some(_), _) => {}
            (None, '"') => begun = Some(at + 1),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            break;
        }
    }
    texts
}

#[test]
fn every_line_that_somebody_should_look_at_is_explained() {
    check_repository(check);
}

#[test]
fn a_line_without_a_heading_is_found() {
    let with_page = |page: &'static str| {
        move |files: &[Source]| {
            let file = files.iter().map(|source| Source::new(&source.path, &source.text));
            check(&file.chain([Source::new(PAGE, page)]).collect::<Vec<_>>())
        }
    };
    let code = "fn f() {\n    tracing::warn!(of = g(\"x\"), \"the sky (or so) falls: {}\", sky());\n}\n";
    check_planted(with_page("### the sky (or so) falls\n"), "crates/a/src/b.rs", code, &[]);
    check_planted(with_page("### something else\n"), "crates/a/src/b.rs", code, &[2]);
    check_planted(with_page(""), "crates/a/tests/b.rs", code, &[]);
}
