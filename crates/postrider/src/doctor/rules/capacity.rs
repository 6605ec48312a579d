//! The gateway as a whole: slots, bands of priority, retries.

use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{DestinationSeen, Snapshot};

/// Slots in use, in percent, as of the alert rules.
const SATURATED_PERCENT: u64 = 85;
/// Destinations that wait for a slot at once; fewer are one destination's matter.
const WAITING_MIN: usize = 3;
/// Due and not sent for so long, a band starves.
const STARVED_SECONDS: f64 = 30.0 * 60.0;
/// Retries that wait, from which they crowd.
const RETRIES_MIN: u64 = 200;

/// Many destinations wait for slots: what there is, and what more would bring.
pub(in crate::doctor) fn saturated(seen: &Snapshot) -> Vec<Finding> {
    let Some((used, total)) = seen.slots else { return Vec::new() };
    let waiting: Vec<&DestinationSeen> =
        seen.destinations.iter().filter(|found| found.waiting_for == "slots").collect();
    if used * 100 < total * SATURATED_PERCENT || waiting.len() < WAITING_MIN {
        return Vec::new();
    }
    let arithmetic = latency_seconds(seen).map(|latency| {
        let rate = total as f64 / latency;
        format!(
            " An attempt takes {latency:.2} s, so {total} slots make {rate:.0} attempts a second, and twice as many slots, or a second node, {:.0}: what waits would be gone after {:.0} s instead of {:.0} s.",
            2.0 * rate,
            seen.pending as f64 / (2.0 * rate),
            seen.pending as f64 / rate,
        )
    });
    let sentence = format!(
        "{} destinations wait for slots: {used} of {total} are in use.{}",
        waiting.len(),
        arithmetic.unwrap_or_default()
    );
    let finding = Finding::new(Severity::Critical, "capacity", sentence)
        .next(format!(
            "postrider serve --slots {} …     # twice as many, after a restart",
            (total * 2).min(16_384)
        ))
        .next("postrider destinations edit … timeout_seconds:=5   # where receivers hang");
    vec![finding]
}

/// The mean of what was looked at.
fn latency_seconds(seen: &Snapshot) -> Option<f64> {
    let seen: Vec<f64> =
        seen.destinations.iter().filter_map(|found| Some(found.last.as_ref()?.latency_ms)).collect();
    let mean = seen.iter().sum::<f64>() / seen.len() as f64 / 1000.0;
    (mean > 0.0).then_some(mean)
}

/// A band whose deliveries are due and do not get their turn.
pub(in crate::doctor) fn starved(seen: &Snapshot) -> Vec<Finding> {
    let busy = seen.slots.is_none_or(|(used, total)| used * 100 >= total * SATURATED_PERCENT);
    let starved =
        seen.bands.iter().zip(1..).filter(|(band, _)| busy && band.overdue_seconds > STARVED_SECONDS);
    let finding = |(band, priority): (&crate::doctor::snapshot::Waiting, u32)| {
        let sentence = format!(
            "Priority {priority} starves: {} deliveries wait, the first for {:.0} min since it was due, while the slots are in use.",
            band.pending,
            band.overdue_seconds / 60.0
        );
        Finding::new(Severity::Warning, "starved", sentence)
            .next("postrider serve --priority-floors 50,50,50,50 …   # more slots of its own")
            .next("postrider serve --promotion-age-seconds 600 …     # sooner more urgent")
    };
    starved.map(finding).collect()
}

/// More is tried again than is fresh.
pub(in crate::doctor) fn retries(seen: &Snapshot) -> Vec<Finding> {
    let (retries, fresh) = (seen.retries.pending, seen.fresh.pending);
    if retries < RETRIES_MIN || retries <= fresh {
        return Vec::new();
    }
    let sentence = format!(
        "Retries crowd: {retries} deliveries wait to be tried again, and {fresh} for the first time."
    );
    let finding = Finding::new(Severity::Warning, "retries", sentence)
        .next("postrider queue   # whose they are")
        .next("postrider destinations circuit … open   # for one that will not come back soon");
    vec![finding]
}
