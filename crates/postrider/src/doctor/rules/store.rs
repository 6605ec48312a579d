//! The store while it still takes events: how much room it has, and how soon it answers.

use super::gateway::busy;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

/// Times the reserve, as of the alert rules.
const RESERVES_MIN: u64 = 2;
/// A page by an index takes milliseconds; half of what commits may take by default is a sign.
const LISTING_MS_MAX: u64 = 1000;

pub(in crate::doctor) fn disk(seen: &Snapshot) -> Vec<Finding> {
    let Some((free, reserve)) = seen.disk else { return Vec::new() };
    // At the reserve events are refused, which is told with that.
    if free <= reserve || free >= reserve.saturating_mul(RESERVES_MIN) {
        return Vec::new();
    }
    let sentence =
        format!("The disk has {} MiB left, and at {} MiB events are refused.", free >> 20, reserve >> 20);
    let finding = Finding::new(Severity::Warning, "disk_low", sentence)
        .next("df -h   # what uses the space")
        .next("postrider serve --retention-days 3 …   # keep less, after a restart");
    vec![finding]
}

pub(in crate::doctor) fn slow(seen: &Snapshot) -> Vec<Finding> {
    if seen.listing_ms <= LISTING_MS_MAX {
        return Vec::new();
    }
    let took = seen.listing_ms as f64 / 1000.0;
    let sentence = format!("The store is slow: it took {took:.1} s to list dead letters.");
    let finding = Finding::new(Severity::Warning, "store_slow", sentence).nexts(busy(seen));
    vec![finding]
}
