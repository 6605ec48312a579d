//! Tests do not sleep: they wait for a state, or on a paused clock. A sleep is too short on a slow machine and too
//! long on all others.

use super::code::{code_only, is_identifier, tests_begin};
use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

/// Where a test may sleep, each with its reason beside it.
const MAY_SLEEP: &[&str] = &[
    // On a paused clock: name servers that answer late.
    "crates/engine/src/send/connect/tests.rs",
    "crates/engine/src/send/resolve/tests.rs",
    // A receiver that drips its answer; slowness is what it is made for.
    "crates/engine/tests/it/hanging.rs",
    // Between two looks at a state that others wait for.
    "crates/engine/tests/it/wait.rs",
];

const SLEEPS: &[&str] = &["sleep", "sleep_until", "sleep_ms"];

fn check(files: &[Source]) -> Vec<Finding> {
    check_except(files, &[])
}

fn check_except(files: &[Source], may_sleep: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut asleep = Vec::new();
    for source in files.iter().filter(|source| source.is_rust()) {
        let lines = sleeping_lines(source);
        if may_sleep.contains(&source.path.as_str()) && !lines.is_empty() {
            asleep.push(source.path.as_str());
        } else {
            let what = "a test sleeps; wait for the state, or pause the clock";
            findings.extend(lines.iter().map(|line| finding(source, *line, what)));
        }
    }
    let awake = may_sleep.iter().filter(|path| !asleep.contains(path));
    findings.extend(awake.map(|path| format!("{path}: no longer sleeps; take it off the list")));
    findings
}

fn sleeping_lines(source: &Source) -> Vec<usize> {
    let code = code_only(&source.text);
    let Some(first) = tests_begin(source, &code) else { return vec![] };
    let lines = (1..).zip(code.lines()).skip(first - 1);
    lines.filter(|(_, line)| sleeps(line)).map(|(line, _)| line).collect()
}

/// A method of that name is one of ours, on a clock of ours; any other mention is the real thing, imports too.
fn sleeps(code: &str) -> bool {
    let mut words = code.split_inclusive(|character| !is_identifier(character));
    let mut before = String::new();
    words.any(|word| {
        let name = word.trim_end_matches(|character| !is_identifier(character));
        let ours = before.ends_with('.') || before.ends_with("fn ");
        before.push_str(word);
        SLEEPS.contains(&name) && !ours
    })
}

#[test]
fn tests_do_not_sleep() {
    check_repository(|files| check_except(files, MAY_SLEEP));
}

#[test]
fn a_sleep_in_a_test_is_found() {
    check_planted(check, "tests/it/a.rs", "fn a() {\n    std::thread::sleep(b);\n}\n", &[2]);
    check_planted(check, "src/tests.rs", "async fn a() {\n    tokio::time::sleep(b).await;\n}\n", &[2]);
    check_planted(check, "src/tests.rs", "use tokio::time::{Instant, sleep_until};\n", &[1]);
    check_planted(
        check,
        "src/a.rs",
        "fn a() { sleep(b) }\n#[cfg(test)]\nmod tests {\nfn a() { sleep(b) }\n}\n",
        &[4],
    );
    check_planted(
        check,
        "src/tests.rs",
        "fn a() {\n    clock.sleep(b);\n    f(\"sleep\"); // sleep\n}\n",
        &[],
    );
    check_planted(check, "src/tests.rs", "fn sleep(b: u8) {}\nfn asleep() {}\n", &[]);
}

#[test]
fn the_list_of_those_who_may_sleep_does_not_outlive_them() {
    let check = |text: &str, found: usize| {
        let findings = check_except(&[Source::new("tests/it/a.rs", text)], &["tests/it/a.rs"]);
        assert_eq!(findings.len(), found, "{findings:?}");
    };
    check("fn a() { std::thread::sleep(b) }\n", 0);
    check("fn a() {}\n", 1);
}
