//! What the engine has counted since the start.

use super::exposition::{Exposition, Kind};
use super::queue::OTHER;
use postrider_core::breaker::Circuit;
use postrider_core::delivery::Priority;
use postrider_core::outcome::{DeathReason, Outcome};
use postrider_core::scheduler::Counters;
use postrider_engine::{CIRCUITS, Catalog, Histogram, Meters};

pub(super) fn write(text: &mut Exposition, meters: &Meters, counters: &Counters, catalog: &Catalog) {
    ingest(text, meters, catalog);
    attempts(text, meters, counters);
    times(text, meters);
    let help = "Outcomes dropped because their shard had been taken over by another node.";
    text.counter("postrider_fenced_total", help, meters.fenced.get());
    let help = "Commits that wrote nothing because another node had taken over from this one.";
    text.counter("postrider_commits_fenced_total", help, meters.commits_fenced.get());
    let help = "Attempts noted before they started, after an unclean stop.";
    text.counter("postrider_starts_noted_total", help, meters.starts_noted.get());
    text.counter(
        "postrider_lease_renewals_total",
        "Times the lease was renewed.",
        meters.lease_renewals.get(),
    );
}

fn ingest(text: &mut Exposition, meters: &Meters, catalog: &Catalog) {
    text.counter("postrider_events_accepted_total", "Events accepted.", meters.accepted.get());
    let help = "Events accepted that no route took: nothing is sent for them.";
    text.counter("postrider_events_unrouted_total", help, meters.unrouted.get());
    text.counter(
        "postrider_events_repeated_total",
        "Events that had been accepted before under the same key.",
        meters.repeated.get(),
    );
    // From 0 on: of a series that begins with the first refusals a rate sees nothing until there are more.
    let help = "Events refused for want of room, by what there was too much of.";
    let mut family = text.family("postrider_shed_by_limit_total", Kind::Counter, help);
    for (cause, count) in meters.shed.by_cause() {
        family.sample(&[("limit", cause.as_str())], count);
    }
    let help = "Events refused for want of room, by what there was too much of and by account.";
    let mut family = text.family("postrider_shed_total", Kind::Counter, help);
    for (account, cause, count) in meters.shed.counts() {
        let id = account.map_or_else(|| OTHER.to_owned(), |id| id.to_string());
        let name = account.and_then(|id| catalog.account(id)).map(|found| found.name.as_str());
        let labels = [("limit", cause.as_str()), ("account_id", &id), ("account", name.unwrap_or(OTHER))];
        family.sample(&labels, count);
    }
}

fn attempts(text: &mut Exposition, meters: &Meters, counters: &Counters) {
    text.counter("postrider_attempts_started_total", "Slots given to deliveries.", counters.sent);
    let mut family =
        text.family("postrider_attempts_total", Kind::Counter, "Attempts that ended, by outcome.");
    for (outcome, count) in Outcome::ALL.iter().zip(&meters.attempts) {
        family.sample(&[("outcome", outcome.as_str())], count.get());
    }
    let help =
        "Attempts that were not begun since the node had no more of this; their deliveries stay queued.";
    let mut family = text.family("postrider_attempts_deferred_total", Kind::Counter, help);
    for seen in meters.shortages.seen() {
        family.sample(&[("resource", seen.shortage.as_str())], seen.count);
    }
    let mut family =
        text.family("postrider_delivered_total", Kind::Counter, "Deliveries delivered, by priority.");
    for (priority, count) in Priority::ALL.iter().zip(&meters.delivered) {
        family.sample(&[("priority", &priority.number().to_string())], count.get());
    }
    let help = "Failed attempts that are followed by another.";
    text.counter("postrider_retries_scheduled_total", help, meters.retries.get());
    let help =
        "Bands by which deliveries had been raised for waiting when they were sent, by their own priority.";
    let mut family = text.family("postrider_promotions_total", Kind::Counter, help);
    for (priority, count) in Priority::ALL.iter().zip(counters.promotions) {
        family.sample(&[("priority", &priority.number().to_string())], count);
    }
    let mut family = text.family("postrider_dead_letters_total", Kind::Counter, "Dead letters, by reason.");
    for (reason, count) in DeathReason::ALL.iter().zip(&meters.dead_letters) {
        family.sample(&[("reason", reason.as_str())], count.get());
    }
    let help = "Times something was due and all concurrency of its destination was in use.";
    text.counter("postrider_concurrency_slot_denied_total", help, counters.concurrency_slot_denied);
    let help = "Circuit transitions, by new state.";
    let mut family = text.family("postrider_circuit_transitions_total", Kind::Counter, help);
    // An open circuit becomes half-open by the probe that begins, of which no record is kept.
    let by_probes = CIRCUITS.map(|word| match word == Circuit::HalfOpen.as_str() {
        true => counters.circuits_half_opened,
        false => 0,
    });
    for ((word, count), by_probes) in CIRCUITS.iter().zip(&meters.circuits).zip(by_probes) {
        family.sample(&[("to", word)], count.get() + by_probes);
    }
}

fn times(text: &mut Exposition, meters: &Meters) {
    by_priority(
        text,
        "postrider_queue_wait_seconds",
        "From when a delivery was due first to its first attempt, by priority.",
        &meters.queue_wait,
    );
    by_priority(
        text,
        "postrider_delivery_latency_seconds",
        "From when a delivery was due first to its delivery, by priority.",
        &meters.delivery_latency,
    );
    let mut one = |name, help, histogram: &Histogram| {
        text.family(name, Kind::Histogram, help).histogram(&[], &histogram.view());
    };
    one("postrider_attempt_seconds", "How long attempts take.", &meters.attempt_duration);
    one("postrider_commit_seconds", "How long commits take.", &meters.commit_duration);
    one("postrider_commit_size", "Events and outcomes written by one commit.", &meters.commit_size.0);
    text.counter("postrider_commits_failed_total", "Commits that failed.", meters.commits_failed.get());
}

fn by_priority(
    text: &mut Exposition,
    name: &'static str,
    help: &str,
    histograms: &[Histogram; Priority::COUNT],
) {
    let mut family = text.family(name, Kind::Histogram, help);
    for (priority, histogram) in Priority::ALL.iter().zip(histograms) {
        family.histogram(&[("priority", &priority.number().to_string())], &histogram.view());
    }
}
