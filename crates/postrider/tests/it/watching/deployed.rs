//! What is in `deploy/` fits the gateway: every metric that an alert or a dashboard asks for is exported, and every alert
//! has its place in the runbook.

use super::samples::Samples;
use crate::rig::Site;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn repository_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn repository_file(path: &str) -> String {
    let path = repository_path(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The metrics that a query asks for: names that are followed by labels, a range or an end, and are no function.
fn metrics_of(query: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let ours = ["postrider_", "process_", "inflight_", "concurrency_slot", "max_concurrency"];
    let words =
        query.split(|c: char| !is_name(c)).filter(|word| ours.iter().any(|prefix| word.starts_with(prefix)));
    words.map(str::to_owned).collect()
}

/// A histogram is asked for by its parts.
fn family<'a>(name: &'a str, exported: &Samples) -> Option<&'a str> {
    let names = exported.names();
    let part = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
    let of_histogram = part.filter(|family| names.get(family) == Some(&"histogram"));
    of_histogram.or_else(|| names.get(name).filter(|kind| **kind != "histogram").map(|_| name))
}

fn check(queries: &[String], at_least: usize) {
    let site = Site::new();
    let gateway = site.start();
    let exported = Samples::scrape(&gateway.api());
    let asked: BTreeSet<String> = queries.iter().flat_map(|query| metrics_of(query)).collect();
    assert!(asked.len() >= at_least, "only {asked:?} were found");
    let missing: Vec<&String> = asked.iter().filter(|name| family(name, &exported).is_none()).collect();
    assert!(missing.is_empty(), "asked for and not exported: {missing:?}");
}

fn after<'a>(key: &str, text: &'a str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.trim().strip_prefix(key)).map(str::trim).collect()
}

#[test]
fn alerts_ask_for_what_is_exported() {
    let alerts = repository_file("deploy/prometheus/alerts.yml");
    let queries: Vec<String> = after("expr:", &alerts).into_iter().map(str::to_owned).collect();
    assert_eq!(queries.len(), after("- alert:", &alerts).len());
    check(&queries, 12);
}

#[test]
fn the_dashboard_asks_for_what_is_exported() {
    let dashboard: Value = serde_json::from_str(&repository_file("deploy/grafana/postrider.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let mut queries: Vec<String> =
        targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    queries.extend(variables.filter_map(|variable| variable["query"]["query"].as_str()).map(str::to_owned));
    check(&queries, 25);
}

#[test]
fn every_alert_has_its_place_in_the_runbook() {
    let alerts = repository_file("deploy/prometheus/alerts.yml");
    let names = after("- alert:", &alerts);
    let links = after("runbook_url:", &alerts);
    let runbook = repository_file("docs/runbook.md");
    let headings = after("## ", &runbook);
    assert_eq!(names, headings, "one heading for each alert, in their order");
    for (name, link) in names.iter().zip(&links) {
        assert!(
            link.ends_with(&format!("docs/runbook.md#{}", name.to_lowercase())),
            "{name} links to {link}"
        );
    }
    assert_eq!(names.len(), links.len());
    let tests = repository_file("deploy/prometheus/alerts_test.yml");
    for name in names {
        assert!(tests.contains(&format!("alertname=\"{name}\"")), "no test makes {name} fire");
        assert!(tests.contains(&format!("alertname: {name} }}")), "no test shows {name} silent");
    }
}

#[test]
fn a_name_that_is_not_exported_is_found() {
    let asked = metrics_of("sum(rate(postrider_x_total{a=\"b\"}[5m])) / max_concurrency");
    assert_eq!(asked, BTreeSet::from(["postrider_x_total".to_owned(), "max_concurrency".to_owned()]));
}
