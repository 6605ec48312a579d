//! The gateway as a whole: slots, bands of priority, retries.

use super::advice;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{DestinationSeen, Slots, Snapshot, Waiting};
use postrider_core::delivery::Priority;
use postrider_core::limits::SLOTS_MAX;

/// Slots in use, in percent, as of the alert rules.
const SATURATED_PERCENT: u64 = 80;
/// What could be sent has waited for so long: no slot is open to it, however many are kept for others.
const LAG_SECONDS_SATURATED: f64 = 1.0;
/// Destinations that wait for a slot at once; fewer are one destination's matter.
const WAITING_MIN: usize = 3;
/// Due and not sent for so long, a band starves.
const STARVED_SECONDS: f64 = 30.0 * 60.0;
/// How long what could be sent may wait for a slot, as of the alert rules.
const LAG_SECONDS_MAX: f64 = 30.0;
/// A promotion age below the default, for where that is too long.
const PROMOTION_SECONDS: u64 = 600;
/// Retries that wait, from which they crowd.
const RETRIES_MIN: u64 = 200;

/// Many destinations wait for slots: what there is, and what more would bring.
pub(in crate::doctor) fn saturated(seen: &Snapshot) -> Vec<Finding> {
    let Some(slots) = seen.slots else { return Vec::new() };
    let waiting: Vec<&DestinationSeen> =
        seen.destinations.iter().filter(|found| found.waiting_for == "slots").collect();
    if !are_saturated(seen, &slots) || seen.pending <= slots.used {
        return Vec::new();
    }
    if waiting.len() < WAITING_MIN {
        let sentence = format!("Nearly all slots are taken: {}.", in_use(&slots));
        return vec![
            Finding::new(Severity::Note, "slots", sentence).next("postrider queue   # who has them"),
        ];
    }
    let arithmetic = latency_seconds(seen).map(|latency| arithmetic(seen.pending, &slots, latency));
    let sentence = format!(
        "{} destinations wait for slots: {}.{}",
        waiting.len(),
        in_use(&slots),
        arithmetic.unwrap_or_default()
    );
    let more = (slots.of_a_node() * 2).min(u64::from(SLOTS_MAX));
    let serve = format!(
        "postrider serve --slots {more} …     # twice as many{}; or in its file, and SIGHUP",
        if slots.nodes > 1 { " on each node" } else { "" },
    );
    let finding = Finding::new(Severity::Critical, "capacity", sentence)
        .maybe((more > slots.of_a_node()).then_some(serve))
        .next("postrider queue   # who has them: give a receiver that hangs a shorter timeout_seconds")
        .maybe(waiting.iter().find(|found| hangs(found)).and_then(|found| advice::wait_less(found)));
    vec![finding]
}

fn hangs(found: &DestinationSeen) -> bool {
    found.last.as_ref().is_some_and(|last| last.error_kind == "timeout")
}

fn are_saturated(seen: &Snapshot, slots: &Slots) -> bool {
    slots.are_saturated(SATURATED_PERCENT) || seen.scheduler_lag_seconds >= LAG_SECONDS_SATURATED
}

fn in_use(slots: &Slots) -> String {
    let Slots { used, total, nodes, busiest } = slots;
    match nodes {
        1 => format!("{used} of {total} are in use"),
        _ => format!(
            "{used} of {total} are in use on {nodes} nodes, {} of {} on the busiest",
            busiest.0, busiest.1
        ),
    }
}

/// What there is makes, and what twice as much would.
fn arithmetic(pending: u64, slots: &Slots, latency: f64) -> String {
    let (total, rate) = (slots.total, slots.total as f64 / latency);
    let more = if slots.nodes > 1 { "as many nodes again" } else { "a second node" };
    format!(
        " An attempt takes {latency:.2} s, so {total} slots make {rate:.0} attempts a second, and twice as many slots, or {more}, {:.0}: the backlog would be gone after {:.0} s instead of {:.0} s.",
        2.0 * rate,
        pending as f64 / (2.0 * rate),
        pending as f64 / rate,
    )
}

/// The mean of what was looked at.
fn latency_seconds(seen: &Snapshot) -> Option<f64> {
    let seen: Vec<f64> =
        seen.destinations.iter().filter_map(|found| Some(found.last.as_ref()?.latency_ms)).collect();
    let mean = seen.iter().sum::<f64>() / seen.len() as f64 / 1000.0;
    (mean > 0.0).then_some(mean)
}

/// More comes in than slots send, long before events are refused for it.
pub(in crate::doctor) fn lag(seen: &Snapshot) -> Vec<Finding> {
    let lag = seen.scheduler_lag_seconds;
    if lag <= LAG_SECONDS_MAX {
        return Vec::new();
    }
    let sentence = format!(
        "A delivery has waited {lag:.0} s for a slot: more deliveries arrive than the slots can send. Events are refused once it has waited for backlog_max_age."
    );
    let finding = Finding::new(Severity::Warning, "scheduler_lag", sentence)
        .next("postrider queue   # who has the slots, and who waits")
        .next("postrider serve --slots …   # more of them; or in its file, and SIGHUP");
    vec![finding]
}

/// A band whose deliveries are due and do not get their turn.
pub(in crate::doctor) fn starved(seen: &Snapshot) -> Vec<Finding> {
    let busy = seen.slots.is_none_or(|slots| are_saturated(seen, &slots));
    let starved =
        seen.bands.iter().zip(1..).filter(|(band, _)| busy && band.overdue_seconds > STARVED_SECONDS);
    let finding = |(band, priority): (&Waiting, usize)| {
        let sentence = format!(
            "Priority {priority} is starved: {} deliveries wait, the first for {:.0} min since it was due, while all slots are in use.",
            band.pending,
            band.overdue_seconds / 60.0
        );
        Finding::new(Severity::Warning, "starved", sentence)
            .next(format!(
                "postrider serve --priority-floors {} …   # reserve more slots for it",
                floors(seen, priority)
            ))
            .maybe(promote_sooner(seen))
    };
    starved.map(finding).collect()
}

fn promote_sooner(seen: &Snapshot) -> Option<String> {
    let seconds = match seen.promotion_age_seconds {
        None => PROMOTION_SECONDS,
        Some(now) => (now / 2).min(PROMOTION_SECONDS),
    };
    let command = format!("postrider serve --promotion-age-seconds {seconds} …     # promote it sooner");
    (seconds > 0).then_some(command)
}

/// What the others have by default, and a quarter of the slots for the one that starves.
fn floors(seen: &Snapshot, starved: usize) -> String {
    let Some(slots) = seen.slots.map(|slots| slots.of_a_node()) else { return "…".to_owned() };
    let usual = (slots / 16).max(u64::from(slots >= 8));
    let floor = |priority| if priority == starved { (slots / 4).max(1) } else { usual };
    (1..=Priority::COUNT).map(|priority| floor(priority).to_string()).collect::<Vec<_>>().join(",")
}

/// More is tried again than is fresh.
pub(in crate::doctor) fn retries(seen: &Snapshot) -> Vec<Finding> {
    let (retries, fresh) = (seen.retries.pending, seen.fresh.pending);
    if retries < RETRIES_MIN || retries <= fresh {
        return Vec::new();
    }
    let sentence =
        format!("Many retries: {retries} deliveries wait for a retry, and {fresh} for their first attempt.");
    let finding = Finding::new(Severity::Warning, "retries", sentence)
        .next("postrider queue   # whose they are")
        .next("postrider destinations circuit … open   # for a receiver that will be down for long");
    vec![finding]
}
