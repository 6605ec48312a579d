//! The report of a soak: one page of HTML with its table and its charts, and nothing that it needs from elsewhere.

use super::chart::{Series, svg};
use super::{Sample, latencies, mebibytes_per_hour};
use crate::run::Outcome;
use crate::table;
use anyhow::Context as _;
use std::path::Path;

/// Of the latencies, so that a part has enough of them.
const PART_SECONDS: u64 = 10;
const MEBIBYTE: f64 = (1 << 20) as f64;

/// Writes the report of a run.
pub fn write(path: &Path, title: &str, outcome: &Outcome, samples: &[Sample]) -> anyhow::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(|| format!("make {}", directory.display()))?;
    }
    std::fs::write(path, page(title, outcome, samples)).with_context(|| format!("write {}", path.display()))
}

fn page(title: &str, outcome: &Outcome, samples: &[Sample]) -> String {
    let slope = mebibytes_per_hour(samples);
    let slope = slope.map_or("no process lived long enough to tell".to_owned(), |slope| {
        format!("{slope:+.2} MiB an hour within the lives of processes")
    });
    let verdict = if outcome.verdict.is_green() { "green" } else { "RED" };
    let findings: Vec<String> = outcome.verdict.findings.iter().take(100).map(|line| escaped(line)).collect();
    let (table, findings) = (escaped(&table::render(&outcome.verdict)), findings.join("\n"));
    let charts = charts(outcome, samples).concat();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <body style=\"font-family: sans-serif; max-width: 60rem; margin: 2rem auto\">\n\
         <h1>{title}</h1>\n<p>{verdict}. Resident memory: {slope}.</p>\n\
         <pre>{table}</pre>\n<pre>{findings}</pre>\n{charts}</body>\n</html>\n"
    )
}

fn charts(outcome: &Outcome, samples: &[Sample]) -> [String; 5] {
    let one = |name: &str, value: fn(&Sample) -> f64| Series {
        name: name.to_owned(),
        points: samples.iter().map(|sample| (sample.at, value(sample))).collect(),
    };
    let waits = latencies(&outcome.history, PART_SECONDS);
    let of_waits = |name: &str, value: fn(&(u64, f64, f64)) -> f64| Series {
        name: name.to_owned(),
        points: waits.iter().map(|wait| (wait.0, value(wait))).collect(),
    };
    [
        svg("Resident memory", "MiB", &by_node(samples, |usage| usage.resident_bytes as f64 / MEBIBYTE)),
        svg("Descriptors", "files and sockets", &by_node(samples, |usage| usage.descriptors as f64)),
        svg("Store", "MiB on disk", &[one("store", |sample| sample.store_bytes as f64 / MEBIBYTE)]),
        svg(
            "From answer to arrival",
            "ms",
            &[of_waits("p50", |wait| wait.1), of_waits("p99", |wait| wait.2)],
        ),
        svg("In flight at receivers", "requests", &[one("in flight", |sample| sample.in_flight as f64)]),
    ]
}

fn by_node(samples: &[Sample], value: fn(&super::Usage) -> f64) -> Vec<Series> {
    let nodes = samples.first().map_or(0, |sample| sample.nodes.len());
    let series = |number: usize| Series {
        name: format!("node {number}"),
        points: samples
            .iter()
            .filter_map(|sample| Some((sample.at, value(sample.nodes[number].as_ref()?))))
            .collect(),
    };
    (0..nodes).map(series).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
