//! `hey` in place of our own load, so that figures can be held against those that others took with it.

use crate::args::BenchArgs;
use anyhow::Context as _;
use std::time::Duration;
use tokio::process::Command;

/// What it is given past the deadline to print.
const GRACE: Duration = Duration::from_secs(10);
const BODY: &str = r#"{"type":"bench.chaos","data":{"hello":"world"}}"#;

/// What its report says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeyReport {
    pub(super) accepted: u64,
    /// Other answers, and requests without one.
    pub(super) others: u64,
    pub(super) p99_seconds: f64,
}

pub(super) async fn run(
    args: &BenchArgs,
    events: u64,
    connections: u16,
    url: &str,
) -> anyhow::Result<HeyReport> {
    let mut command = Command::new("hey");
    command
        .args(["-n", &events.to_string(), "-c", &connections.to_string(), "-t", "30"])
        .args(["-m", "POST", "-T", "application/json", "-d", BODY, url])
        .kill_on_drop(true);
    let ran = tokio::time::timeout(args.deadline() + GRACE, command.output()).await;
    let output = ran.context("hey did not end in time")?.context("start hey; is it installed?")?;
    let text = String::from_utf8_lossy(&output.stdout);
    read(&text, events).with_context(|| format!("hey's report has no latencies or answers:\n{text}"))
}

fn read(text: &str, events: u64) -> Option<HeyReport> {
    let lines = || text.lines().map(str::trim);
    let p99 = lines().find_map(|line| {
        // Some versions print the percent sign twice.
        let rest = line.strip_prefix("99%")?;
        rest.trim_start_matches('%').trim().strip_prefix("in")?.trim().strip_suffix("secs")
    });
    let accepted = lines().find_map(|line| line.strip_prefix("[202]")?.trim().strip_suffix("responses"));
    let accepted = accepted.map_or(Some(0), |count| count.trim().parse().ok())?;
    Some(HeyReport {
        accepted,
        others: events.saturating_sub(accepted),
        p99_seconds: p99?.trim().parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\nSummary:\n  Total:\t0.5 secs\n\nLatency distribution:\n  95% in 0.0101 secs\n  99% in 0.0123 secs\n\nStatus code distribution:\n  [202]\t4990 responses\n  [503]\t10 responses\n";

    #[test]
    fn answers_and_the_99th_percentile_are_read_from_the_report() {
        let expected = HeyReport { accepted: 4990, others: 10, p99_seconds: 0.0123 };
        assert_eq!(read(REPORT, 5000), Some(expected.clone()));
        assert_eq!(read(&REPORT.replace("% in", "%% in"), 5000), Some(expected));
    }

    #[test]
    fn a_report_without_202_has_none_accepted_and_one_without_latencies_is_no_report() {
        let refused = read(&REPORT.replace("[202]", "[429]"), 5000).expect("a report");
        assert_eq!((refused.accepted, refused.others), (0, 5000));
        assert_eq!(read("connection refused", 5000), None);
    }
}
