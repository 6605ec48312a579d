//! A load as its parent orders it, run to its end.

use super::spawn;
use crate::args::{BenchArgs, Role};
use crate::load::{LoadReport, Refused};
use anyhow::Context as _;
use clap::ValueEnum as _;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

/// What a load may take past its own deadline, for requests under way (30 s at most) and its start.
const LOAD_GRACE: Duration = Duration::from_secs(45);
/// A load prints one line.
const LOAD_OUTPUT_BYTES_MAX: u64 = 64 << 10;

/// What one load differs in from the next; the rest is as the command line has it.
#[derive(Debug, Clone)]
pub(crate) struct LoadOrder {
    pub(crate) events: u64,
    pub(crate) rate_per_s: Option<u32>,
    /// Tells loads apart that the receiver gets at the same time.
    pub(crate) load: u8,
    /// Where not as the command line has it.
    pub(crate) connections: Option<u16>,
    pub(crate) size_bytes: Option<u32>,
    pub(crate) refused: Refused,
}

impl LoadOrder {
    /// Each connection sends its next event as soon as it has an answer.
    pub(crate) fn at_once(events: u64) -> LoadOrder {
        LoadOrder {
            events,
            rate_per_s: None,
            load: 0,
            connections: None,
            size_bytes: None,
            refused: Refused::Again,
        }
    }

    pub(crate) fn paced(events: u64, rate_per_s: u32) -> LoadOrder {
        LoadOrder { rate_per_s: Some(rate_per_s), ..LoadOrder::at_once(events) }
    }

    pub(crate) fn numbered(self, load: u8) -> LoadOrder {
        LoadOrder { load, ..self }
    }

    fn options(&self, args: &BenchArgs) -> Vec<String> {
        let refused = self.refused.to_possible_value().expect("no variant is skipped");
        let mut options = vec![
            format!("--events={}", self.events),
            format!("--size={}", self.size_bytes.unwrap_or(args.size)),
            format!("--connections={}", self.connections.unwrap_or(args.connections)),
            format!("--deadline-seconds={}", args.deadline_seconds),
            format!("--load={}", self.load),
            format!("--refused={}", refused.get_name()),
        ];
        options.extend(self.rate_per_s.map(|rate| format!("--rate={rate}")));
        options
    }
}

/// Runs a load to its end.
pub(crate) async fn run_load(
    args: &BenchArgs,
    order: &LoadOrder,
    urls: &[String],
) -> anyhow::Result<LoadReport> {
    let mut child = spawn(Role::Load, urls, &order.options(args))?;
    let mut output = String::new();
    let mut stdout = child.take_stdout()?.take(LOAD_OUTPUT_BYTES_MAX);
    let read = tokio::time::timeout(args.deadline() + LOAD_GRACE, stdout.read_to_string(&mut output)).await;
    read.context("the load did not end in time")?.context("read the load's report")?;
    serde_json::from_str(&output).context("the load ended without a report")
}
