//! Single destinations: the one that is responsible, those that are left alone, stopped or blocked.

use super::advice;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{DestinationSeen, Snapshot};
use crate::terminal::counted;

/// A destination with more than this waiting is too deep, as of the alert rules.
pub(super) const DEPTH_WARNING: u64 = 200;
/// The same in all, past which it is nobody's bad minute.
pub(super) const DEPTH_CRITICAL: u64 = 1000;
/// A share of all that waits, in percent, that makes one destination responsible.
const SHARE_PERCENT: u64 = 60;

/// One destination holds most of what waits.
pub(in crate::doctor) fn responsible(seen: &Snapshot) -> Vec<Finding> {
    let Some(worst) = the_one(seen) else { return Vec::new() };
    let share = share(worst, seen);
    let severity = if worst.pending > DEPTH_CRITICAL { Severity::Critical } else { Severity::Warning };
    let sentence = format!(
        "One destination is responsible: {} has {} of the {} pending deliveries ({share} %), the oldest for {:.0} s; it waits for {}, with {} of {} attempts in flight{}.",
        named(worst),
        worst.pending,
        seen.pending,
        worst.oldest_seconds,
        worst.waiting_for.replace('_', " "),
        worst.in_flight,
        worst.max_concurrency,
        last(worst),
    );
    let mut finding = Finding::new(severity, "one_destination", sentence);
    if worst.circuit == "closed" {
        finding = if_closed(worst, finding);
    }
    vec![finding.next(command(worst, "pause", "", "stop sending; its deliveries stay pending"))]
}

pub(super) fn the_one(seen: &Snapshot) -> Option<&DestinationSeen> {
    let worst = seen.destinations.iter().max_by_key(|found| found.pending)?;
    let is_it =
        worst.pending > DEPTH_WARNING && share(worst, seen) >= SHARE_PERCENT && is_meant_to_run(worst);
    is_it.then_some(worst)
}

/// Of a hundred that wait.
fn share(found: &DestinationSeen, seen: &Snapshot) -> u64 {
    found.pending * 100 / seen.pending.max(1)
}

/// One that fails is to be left alone sooner, and one that is only slow to be given more at once. Of one whose oldest
/// delivery has no attempt that ended, as when it hangs, neither is known.
fn if_closed(found: &DestinationSeen, finding: Finding) -> Finding {
    let (fails, answers) = match &found.last {
        None => (true, true),
        Some(last) => (!last.error_kind.is_empty(), last.error_kind.is_empty()),
    };
    let mut finding = finding;
    if fails && answers {
        finding = finding.next(command(found, "test", "", "does it respond?"));
    }
    if fails {
        finding = finding
            .maybe(advice::give_less(found))
            .maybe(advice::circuit(found, "open", "stop sending until you close it"))
            .maybe(advice::open_sooner(found));
    }
    if answers {
        finding = finding.maybe(advice::give_more(found));
    }
    finding
}

/// Circuits that are not closed.
pub(in crate::doctor) fn circuits(seen: &Snapshot) -> Vec<Finding> {
    let open =
        seen.destinations.iter().filter(|found| found.circuit == "open" || found.circuit == "half_open");
    let finding = |found: &DestinationSeen| {
        let sentence = format!(
            "The circuit of {} is {}, with {} waiting for it{}.",
            named(found),
            found.circuit.replace('_', "-"),
            counted(found.pending, "delivery"),
            last(found),
        );
        Finding::new(Severity::Warning, "circuit_open", sentence)
            .next(command(found, "test", "", "does it respond?"))
            .maybe(advice::circuit(found, "half-open", "one probe now"))
            .maybe(advice::circuit(found, "closed", "send again, slowly at first"))
    };
    open.map(finding).collect()
}

/// Destinations that are sent nothing by somebody's word and are owed something.
pub(in crate::doctor) fn stopped(seen: &Snapshot) -> Vec<Finding> {
    let stopped = seen.destinations.iter().filter(|found| found.waiting_for == "paused" && found.pending > 0);
    let finding = |found: &DestinationSeen| {
        let severity = if found.pending > DEPTH_WARNING { Severity::Warning } else { Severity::Note };
        let waiting = counted(found.pending, "delivery");
        let sentence = format!("{} is paused or disabled, with {waiting} waiting for it.", named(found));
        Finding::new(severity, "paused", sentence)
            .next(command(found, "show", "", "why it is"))
            .next(command(found, "resume", "", "send to it again"))
    };
    stopped.map(finding).collect()
}

/// Ordered lines that wait for a dead letter.
pub(in crate::doctor) fn blocked(seen: &Snapshot) -> Vec<Finding> {
    let blocked =
        seen.destinations.iter().filter(|found| found.blocked_keys > 0 || found.waiting_for == "dead_letter");
    let finding = |found: &DestinationSeen| {
        let sentence = format!(
            "{} is ordered, and {} of its lanes wait for a dead letter; {} pending.",
            named(found),
            found.blocked_keys.max(1),
            counted(found.pending, "delivery")
        );
        let list = format!(
            "postrider dlq list --destination {}{}   # what they wait for",
            found.id, found.as_account
        );
        Finding::new(Severity::Warning, "blocked", sentence).next(list).next(command(
            found,
            "edit",
            " on_dead_letter=skip",
            "skip them",
        ))
    };
    blocked.map(finding).collect()
}

pub(super) fn is_meant_to_run(found: &DestinationSeen) -> bool {
    found.waiting_for != "paused" && found.waiting_for != "dead_letter"
}

/// A command about a destination, as it can be typed, and what it is for.
pub(super) fn command(found: &DestinationSeen, verb: &str, rest: &str, what_for: &str) -> String {
    format!("postrider destinations {verb} {}{rest}{}   # {what_for}", found.id, found.as_account)
}

pub(super) fn named(found: &DestinationSeen) -> String {
    format!("{:?} ({})", found.name, found.id)
}

/// How its oldest delivery went last, as the end of a sentence.
fn last(found: &DestinationSeen) -> String {
    match &found.last {
        Some(last) if !last.error_message.is_empty() => {
            format!("; last: {}", last.error_message.trim_end_matches('.'))
        }
        _ => String::new(),
    }
}
