//! The page is what is generated, and what it names exists.

use super::cases::CHAPTERS;
use super::guarantees::GUARANTEES;
use super::{Proof, Results, render};
use crate::nemesis;
use std::path::PathBuf;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn proofs() -> impl Iterator<Item = &'static Proof> {
    let of_cases = CHAPTERS.iter().flat_map(|chapter| chapter.cases).flat_map(|case| case.by);
    GUARANTEES.iter().flat_map(|guarantee| guarantee.by).chain(of_cases)
}

/// What is wrong with a proof, if anything.
fn missing(proof: &Proof) -> Option<String> {
    match proof {
        Proof::Test(file, name) => {
            let text = std::fs::read_to_string(repository().join(file)).unwrap_or_default();
            (!has_test(&text, name)).then(|| format!("{file} has no test {name}"))
        }
        Proof::Suite(deed) => {
            (!nemesis::deeds().contains(&(*deed).to_owned())).then(|| format!("nothing does {deed}"))
        }
        Proof::Bench(name) => {
            let file = repository().join(format!("bench/src/scenario/isolation/{name}.rs"));
            (!file.exists()).then(|| format!("there is no scenario {name}"))
        }
    }
}

/// Whether there is such a function, and a runner of tests finds it.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = format!("fn {name}(");
    let Some(at) = lines.iter().position(|line| line.contains(&begins)) else { return false };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    above.into_iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

#[test]
fn every_test_deed_and_scenario_that_is_named_exists() {
    let missing: Vec<String> = proofs().filter_map(missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn a_name_that_does_not_exist_is_found() {
    for proof in [
        Proof::Test("crates/core/src/lib.rs", "no_such_test"),
        Proof::Test("crates/core/src/no_such_file.rs", "main"),
        // A function that is there, and no test.
        Proof::Test("torture/src/promises/page.rs", "render"),
        Proof::Suite("NoSuchDeed"),
        Proof::Bench("no-such-scenario"),
    ] {
        assert!(missing(&proof).is_some());
    }
}

#[test]
fn the_page_is_what_is_generated() {
    let page = std::fs::read_to_string(repository().join("docs/guarantees.md")).unwrap();
    let results = Results::of(&page).expect("the page has results");
    assert!(
        render(&results) == page,
        "docs/guarantees.md is not what is generated; write it with scripts/torture --guarantees docs/guarantees.md --keep-results"
    );
}

#[test]
fn a_page_gives_the_results_that_it_was_written_with() {
    let results = |faults: &str, clean: &str| Results { faults: faults.to_owned(), clean: clean.to_owned() };
    for written in [results("with", "without"), results("with", "")] {
        assert_eq!(Results::of(&render(&written)), Some(written));
    }
    assert_eq!(Results::of("# Another page"), None);
}

#[test]
fn a_page_without_a_place_for_clean_runs_is_read_and_gets_one() {
    let page = render(&Results { faults: "with".to_owned(), clean: String::new() });
    let place = &page[page.find("## A clean run").unwrap()..page.find("## Tests of each guarantee").unwrap()];
    let before = Results::of(&page.replace(place, "")).unwrap();
    assert_eq!(before.faults, "with");
    assert_eq!(render(&before), page);
    assert!(place.contains("\nnot run yet\n"), "{place}");
}
