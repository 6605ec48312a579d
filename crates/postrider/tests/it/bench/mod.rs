//! `postrider bench --scenario`: every isolation scenario runs to its end with a handful of events. What it measures
//! then means nothing, so only goals that do not depend on the machine's speed are held.

mod database;

use serde_json::Value;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_postrider"))
        .arg("bench")
        .args(arguments)
        .output()
        .expect("the binary was built with this test")
}

/// A handful of events for a moment.
const SMALL: [&str; 9] =
    ["--quick", "--rate", "100", "--rate-seconds", "1", "--connections", "8", "--deadline-seconds", "60"];

/// Runs a scenario and gives its part of the report.
fn run(scenario: &str, further: &[&str]) -> Value {
    let output = bench(&[&["--scenario", scenario, "--json", "-"], &SMALL[..], further].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{scenario} ended with {}:\n{said}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone on the standard output");
    assert!(report["throughput"].is_null() && report["backlog"].is_null(), "only what was asked for");
    let isolation = report["comparisons"].as_array().expect("a list of scenarios");
    assert_eq!(isolation.len(), 1);
    assert_eq!(isolation[0]["scenario"], scenario);
    isolation[0].clone()
}

fn goal<'a>(measured: &'a Value, what: &str) -> &'a Value {
    let goals = measured["goals"].as_array().expect("a list of goals");
    goals.iter().find(|goal| goal["what"] == what).unwrap_or_else(|| panic!("no goal {what} in {measured}"))
}

/// The goals that hold at any speed, and those that are only measured.
fn check(scenario: &str, held: &[&str], measured_only: &[&str]) {
    let measured = run(scenario, &[]);
    for what in held {
        assert_eq!(goal(&measured, what)["held"], true, "{what}: {measured}");
    }
    for what in measured_only {
        let value = goal(&measured, what)["measured"].as_f64();
        assert!(value.is_some_and(|value| value >= 0.0), "{what}: {measured}");
    }
    assert_eq!(
        measured["goals"].as_array().map(Vec::len),
        Some(held.len() + measured_only.len()),
        "{measured}"
    );
}

#[test]
fn the_hanging_scenario_runs() {
    check("hanging", &[], &["others' p99, with by without"]);
}

#[test]
fn the_storm_scenario_gets_every_retry_through() {
    check("storm", &["retries received"], &["others' p99, with by without", "same's p99, with by without"]);
}

#[test]
fn the_critical_scenario_runs() {
    let measured_only =
        ["critical p50, with bulk by idle", "critical p99, with bulk by idle", "bulk owed at the last"];
    check("critical", &["bulk delivered meanwhile"], &measured_only);
}

#[test]
fn the_flood_scenario_runs() {
    check("flood", &[], &["trickle p99, with by without"]);
}

#[test]
fn the_chaos_scenario_brings_every_delivery_to_an_end() {
    let ends = ["events answered 202", "deliveries ended, by the receiver", "deliveries ended within 240 s"];
    check("chaos", &ends, &["answer p99 ms"]);
}

#[test]
fn the_chaos_scenario_takes_another_way_in() {
    let measured = run("chaos", &["--path", "/ingress"]);
    assert_eq!(goal(&measured, "deliveries ended within 240 s")["held"], true, "{measured}");
}

#[test]
fn the_herd_scenario_keeps_to_the_destination_s_concurrency() {
    check("herd", &["in flight at the receiver", "events that came back"], &["share of the busiest second"]);
}

#[test]
fn the_overload_scenario_loses_nothing() {
    let measured_only = [
        "refusals",
        "refusal p99 ms",
        "rss, second half by first",
        "delivered per s, with by without",
        "delivered per s, after by without",
    ];
    let held =
        ["neither accepted nor refused", "refusals without a time or a code", "s until it has caught up"];
    check("overload", &held, &measured_only);
}

#[test]
fn the_ingest_scenario_runs() {
    check("ingest", &[], &["gateway by bare server"]);
}

#[test]
fn the_half_load_scenario_runs() {
    check("half-load", &[], &["receipt p99 ms at half load"]);
}

#[test]
fn the_watched_scenario_runs() {
    check("watched", &[], &["watched by not"]);
}

#[test]
fn the_scrape_scenario_runs() {
    check("scrape", &[], &["scrape max ms, idle", "scraped by not"]);
}

#[test]
fn the_pages_scenario_opens_every_page_of_a_store_with_days_of_history() {
    let slowest = ["ms of the slowest page, first", "ms of the slowest page, again"];
    check("pages", &["kB of the largest page"], &slowest);
}

#[test]
fn the_nginx_scenario_runs_or_says_what_it_needs() {
    if Command::new("nginx").arg("-v").output().is_ok() {
        return check("nginx", &[], &["gateway by nginx"]);
    }
    let output = bench(&[&["--scenario", "nginx"], &SMALL[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("is it installed?"), "{said}");
}

#[test]
fn figures_go_into_a_page_that_has_a_place_for_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("page.md");
    let fill = |text: &str| {
        std::fs::write(&page, text).expect("it is written");
        let output = bench(
            &[&["--scenario", "hanging", "--page", page.to_str().expect("UTF-8")], &SMALL[..]].concat(),
        );
        (output.status.success(), std::fs::read_to_string(&page).expect("it is there"))
    };
    let (done, text) = fill("before\n<!-- bench hanging -->\nold\n<!-- end -->\nafter\n");
    assert!(
        done && text
            .starts_with("before\n<!-- bench hanging -->\n```text\n$ postrider bench --scenario hanging")
    );
    assert!(text.ends_with("```\n<!-- end -->\nafter\n") && !text.contains("old"), "{text}");
    let (done, text) = fill("no place");
    assert!(!done && text == "no place");
}

#[test]
fn a_scenario_that_does_not_exist_and_one_without_its_size_are_refused() {
    for (scenario, said) in
        [("nothing", "possible values"), ("backlog", "--scenario backlog needs --pending")]
    {
        let output = bench(&["--scenario", scenario]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(said), "{scenario}: {error}");
    }
}
