//! A long run, and what it cost over time: memory, descriptors, the size of the store, and how long deliveries took.

mod chart;
mod leak;
mod report;
mod slope;

use crate::fleet::Fleet;
use crate::history::{Fate, History, Moment, SECOND};
use crate::sink::Sink;
use crate::watch::Watch;
use std::path::Path;

pub use leak::leaks;
pub use report::write;
pub use slope::mebibytes_per_hour;

/// A look at all processes.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When.
    pub at: Moment,
    /// Of each node: its process, and what it has; nothing while there is none.
    pub nodes: Vec<Option<Usage>>,
    /// On disk, of all nodes or of the database.
    pub store_bytes: u64,
    /// Requests at the receivers.
    pub in_flight: usize,
    /// Requests that the receivers have had.
    pub arrived: usize,
}

/// What a process has.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Which one: a node has another after each death.
    pub process: u32,
    /// Memory that is resident.
    pub resident_bytes: u64,
    /// Files and sockets.
    pub descriptors: usize,
}

/// Looks now.
pub fn sample(watch: Watch, fleet: &Fleet, sink: &Sink) -> Sample {
    let usage = |number: usize| {
        let node = fleet.node(number);
        let process = node.process()?;
        let descriptors = std::fs::read_dir(format!("/proc/{}/fd", process.id())).ok()?.count();
        Some(Usage { process: process.id(), resident_bytes: process.resident_bytes(), descriptors })
    };
    Sample {
        at: watch.now(),
        nodes: (0..fleet.size()).map(usage).collect(),
        store_bytes: fleet.store_bytes(),
        in_flight: sink.in_flight(),
        arrived: sink.count(),
    }
}

/// What is in a directory and below; what goes away meanwhile is not counted.
pub(crate) fn directory_bytes(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => directory_bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// In each part of so many seconds: when it begins, and the median and the 99th percentile in milliseconds of the time
/// from a sender's answer to the first byte at a receiver.
pub fn latencies(history: &History, part_seconds: u64) -> Vec<(Moment, f64, f64)> {
    let part = part_seconds * SECOND;
    let posted: std::collections::HashMap<u64, Moment> = history
        .posted
        .iter()
        .filter(|posted| posted.fate == Fate::Accepted)
        .map(|posted| (posted.body, posted.answered))
        .collect();
    let mut seen = std::collections::HashSet::new();
    let mut parts: std::collections::BTreeMap<Moment, Vec<Moment>> = std::collections::BTreeMap::new();
    for arrival in &history.arrivals {
        if let Some(answered) = posted.get(&arrival.body)
            && seen.insert((arrival.destination, arrival.body))
        {
            // It may arrive before its sender has read the answer.
            let waited = arrival.began.saturating_sub(*answered);
            parts.entry(arrival.began / part * part).or_default().push(waited);
        }
    }
    let percentiles = |(at, mut waits): (Moment, Vec<Moment>)| {
        waits.sort_unstable();
        let of = |share: usize| waits[(waits.len() - 1) * share / 100] as f64 / 1000.0;
        (at, of(50), of(99))
    };
    parts.into_iter().map(percentiles).collect()
}
