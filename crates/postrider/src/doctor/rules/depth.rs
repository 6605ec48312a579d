//! How much waits and for how long, by the thresholds of the alert rules: what fires there is told here too.

use super::advice;
use super::destinations::{DEPTH_CRITICAL, DEPTH_WARNING, command, is_meant_to_run, named, the_one};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{DestinationSeen, Snapshot};
use std::collections::BTreeMap;

/// Deliveries of priority 1 that may be owed.
const CRITICAL_MAX: u64 = 10;
/// How long ago what is still owed of priority 4 may have come in.
const BULK_SECONDS_MAX: f64 = 2.0 * 3600.0;
/// How long what is due may wait.
const WAIT_SECONDS_MAX: f64 = 30.0;
/// How long what is due may wait for the limits of its own destination, as of the alert rules. Nothing refuses events for it
/// before the backlog is full.
const LIMITED_SECONDS_MAX: f64 = 60.0;
/// Destinations that are named in a sentence.
const NAMED: usize = 5;

const QUEUE: &str = "postrider queue   # whose they are, and what each waits for";

/// Destinations with much waiting that no other rule names, together by what they wait for: often it is one thing.
pub(in crate::doctor) fn destinations(seen: &Snapshot) -> Vec<Finding> {
    let responsible = the_one(seen).map(|found| &found.id);
    let mut by_wait: BTreeMap<&str, Vec<&DestinationSeen>> = BTreeMap::new();
    for found in &seen.destinations {
        let is_told = found.circuit != "closed" || !is_meant_to_run(found) || responsible == Some(&found.id);
        if found.pending > DEPTH_WARNING && !is_told {
            by_wait.entry(&found.waiting_for).or_default().push(found);
        }
    }
    by_wait.into_iter().map(|(waiting_for, of)| deep(waiting_for, &of)).collect()
}

/// Destinations that are given more than their own limits let through, while little enough waits that it is not deep yet.
pub(in crate::doctor) fn limited(seen: &Snapshot) -> Vec<Finding> {
    let is_limited = |found: &&DestinationSeen| {
        ["concurrency", "rate_limit", "bytes_in_flight"].contains(&&*found.waiting_for)
    };
    let is_late = |found: &&DestinationSeen| {
        found.overdue_seconds > LIMITED_SECONDS_MAX
            && found.pending <= DEPTH_WARNING
            && is_meant_to_run(found)
    };
    let mut late: Vec<&DestinationSeen> =
        seen.destinations.iter().filter(is_limited).filter(is_late).collect();
    late.sort_by(|one, other| other.overdue_seconds.total_cmp(&one.overdue_seconds));
    let Some(first) = late.first() else { return Vec::new() };
    let more = match late.len() - 1 {
        0 => String::new(),
        more => format!(" So does that of {more} more."),
    };
    let sentence = format!(
        "What could be sent to {} has waited {:.0} s for {}: more comes in than its limits let through.{more}",
        named(first),
        first.overdue_seconds,
        first.waiting_for.replace('_', " "),
    );
    let finding = Finding::new(Severity::Warning, "destinations_late", sentence).next(QUEUE);
    vec![finding.maybe(advice::give_less(first).or_else(|| advice::give_more(first)))]
}

fn deep(waiting_for: &str, of: &[&DestinationSeen]) -> Finding {
    let (have, wait) =
        if of.len() == 1 { ("destination has", "waits") } else { ("destinations have", "wait") };
    let names = of.iter().take(NAMED).map(|found| format!("{} with {}", named(found), found.pending));
    let mut names = names.collect::<Vec<_>>().join(", ");
    if of.len() > NAMED {
        names.push_str(&format!(", and {} more", of.len() - NAMED));
    }
    let sentence = format!(
        "{} {have} more than {DEPTH_WARNING} deliveries waiting, and {wait} for {}: {names}.",
        of.len(),
        waiting_for.replace('_', " "),
    );
    let is_critical = of.iter().any(|found| found.pending > DEPTH_CRITICAL);
    let severity = if is_critical { Severity::Critical } else { Severity::Warning };
    let (finding, first) = (Finding::new(severity, "destinations_deep", sentence), of[0]);
    match waiting_for {
        "concurrency" | "rate_limit" => {
            finding.next(QUEUE).maybe(advice::give_less(first).or_else(|| advice::give_more(first)))
        }
        "retry_after" | "overwhelmed" => finding
            .next(command(first, "test", "", "does it respond? a proxy that they share may not"))
            .maybe(advice::give_less(first))
            .maybe(advice::circuit(first, "closed", "resume sending, slowly at first, once it does")),
        _ => finding.next(QUEUE),
    }
}

/// Very much waits, at no destination that is named by itself.
pub(in crate::doctor) fn queue(seen: &Snapshot) -> Vec<Finding> {
    let is_told = |found: &&DestinationSeen| {
        found.pending > DEPTH_WARNING || found.circuit != "closed" || !is_meant_to_run(found)
    };
    let told: u64 = seen.destinations.iter().filter(is_told).map(|found| found.pending).sum();
    let untold = seen.pending.saturating_sub(told);
    if untold <= DEPTH_CRITICAL {
        return Vec::new();
    }
    let sentence =
        format!("{untold} deliveries are pending for destinations with no more than {DEPTH_WARNING} each.");
    let finding = Finding::new(Severity::Warning, "queue_deep", sentence)
        .next(QUEUE)
        .next("postrider doctor --watch   # whether it shrinks");
    vec![finding]
}

/// Priority 1 is for what must not wait.
pub(in crate::doctor) fn critical(seen: &Snapshot) -> Vec<Finding> {
    let Some(band) = seen.bands.first().filter(|band| band.pending > CRITICAL_MAX) else { return Vec::new() };
    let sentence = format!(
        "{} deliveries of priority 1 are pending, which should be sent at once; the first has been due for {:.0} s.",
        band.pending, band.overdue_seconds
    );
    vec![Finding::new(Severity::Critical, "critical_waiting", sentence).next(QUEUE)]
}

/// The least urgent, which came in long ago.
pub(in crate::doctor) fn bulk(seen: &Snapshot) -> Vec<Finding> {
    let Some(band) = seen.bands.last().filter(|band| band.oldest_seconds > BULK_SECONDS_MAX) else {
        return Vec::new();
    };
    let why = match band.overdue_seconds {
        0.0 => "it waits for a later attempt, or for its time".to_owned(),
        due => format!("the first that is due has been for {:.0} min", due / 60.0),
    };
    let sentence = format!(
        "A delivery of priority {} arrived {:.1} h ago and is still pending; {why}.",
        seen.bands.len(),
        band.oldest_seconds / 3600.0
    );
    vec![Finding::new(Severity::Warning, "bulk_waits", sentence).next(QUEUE)]
}

/// What is due is late, by little enough that it may pass.
pub(in crate::doctor) fn late(seen: &Snapshot) -> Vec<Finding> {
    let late = seen.bands.iter().zip(1..).filter(|(band, _)| band.overdue_seconds > WAIT_SECONDS_MAX);
    let Some((band, priority)) =
        late.max_by(|(one, _), (other, _)| one.overdue_seconds.total_cmp(&other.overdue_seconds))
    else {
        return Vec::new();
    };
    let sentence =
        format!("A delivery of priority {priority} has been due for {:.0} s.", band.overdue_seconds);
    vec![Finding::new(Severity::Note, "late", sentence).next(QUEUE)]
}
