//! What is owed, in numbers. The deepest destinations and accounts have names, the rest are one, so that the number of
//! series does not grow with the number of tenants.

use super::exposition::{Exposition, Kind};
use postrider_core::breaker::Circuit;
use postrider_core::delivery::{Lane, Priority};
use postrider_core::id::AccountId;
use postrider_core::map::IdMap;
use postrider_core::scheduler::DestinationQueue;
use postrider_core::time::Timestamp;
use postrider_engine::{CIRCUITS, Catalog, Queue, Waiting, circuit_index};

/// Destinations, and accounts, that have a name.
pub(super) const NAMED_MAX: usize = 100;
/// What the rest are called.
pub(super) const OTHER: &str = "other";

pub(super) fn write(text: &mut Exposition, queue: &Queue, catalog: &Catalog) {
    let now = queue.taken_at;
    let totals = &queue.totals;
    text.gauge("postrider_slots", "Attempts that may be in flight at once.", totals.slots);
    text.gauge("postrider_slots_used", "Attempts in flight.", totals.in_flight.len());
    text.gauge(
        "postrider_in_flight_bytes",
        "Bytes of attempts in flight, as far as they count against the limit.",
        totals.bytes_in_flight,
    );
    text.gauge(
        "postrider_in_flight_bytes_max",
        "Bytes of attempts in flight above which no further large body is sent.",
        totals.bytes_max,
    );
    text.gauge("postrider_queue_bytes", "Body bytes of pending deliveries.", totals.pending.bytes);
    let help = "How long the first that could be sent has waited for nothing but a slot.";
    text.gauge("postrider_scheduler_lag_seconds", help, totals.longest_wait.as_secs_f64());
    text.gauge("postrider_shards_owned", "Shards of which this node sends, of 64.", totals.shards.len());
    lines(text, queue, now);
    accounts(text, queue, catalog, now);
    let named: Vec<Named<'_>> =
        queue.destinations.iter().take(NAMED_MAX).map(|found| Named::of(found, catalog)).collect();
    destinations(text, &named, &queue.destinations, now);
    limits(text, &named);
    circuits(text, queue, catalog);
}

fn seconds(since: Option<Timestamp>, now: Timestamp) -> f64 {
    since.map_or(0.0, |since| now.since(since).as_secs_f64())
}

fn lines(text: &mut Exposition, queue: &Queue, now: Timestamp) {
    let mut cells = [[Waiting::default(); Lane::COUNT]; Priority::COUNT];
    for line in queue.destinations.iter().flat_map(|found| found.lines.iter()) {
        cells[line.priority.index()][line.lane.index()].add(line, now);
    }
    let mut family = |name, help, value: &dyn Fn(&Waiting) -> f64| {
        let mut family = text.family(name, Kind::Gauge, help);
        for priority in Priority::ALL {
            let number = priority.number().to_string();
            for lane in Lane::ALL {
                let labels = [("priority", number.as_str()), ("lane", lane.as_str())];
                family.sample(&labels, value(&cells[priority.index()][lane.index()]));
            }
        }
    };
    family("postrider_queue_depth", "Pending deliveries, including those in flight.", &|found| {
        found.rows as f64
    });
    family("postrider_queue_oldest_seconds", "Age of the oldest since it was accepted.", &|found| {
        seconds(found.oldest_at, now)
    });
    family(
        "postrider_queue_overdue_seconds",
        "How long the first that is due has waited to be sent.",
        &|found| seconds(found.due_since, now),
    );
}

fn accounts(text: &mut Exposition, queue: &Queue, catalog: &Catalog, now: Timestamp) {
    let mut accounts: IdMap<AccountId, Waiting> = IdMap::default();
    for found in &queue.destinations {
        let waiting = accounts.entry(found.account).or_default();
        found.lines.iter().for_each(|line| waiting.add(line, now));
    }
    let mut accounts: Vec<(AccountId, Waiting)> = accounts.into_iter().collect();
    accounts.sort_unstable_by_key(|(id, waiting)| (std::cmp::Reverse(waiting.rows), *id));
    let rest = accounts.split_off(accounts.len().min(NAMED_MAX));
    let name = |id: AccountId| catalog.account(id).map(|found| found.name.clone()).unwrap_or_default();
    let mut shown: Vec<(String, String, Waiting)> =
        accounts.into_iter().map(|(id, waiting)| (id.to_string(), name(id), waiting)).collect();
    if !rest.is_empty() {
        let rest = rest.iter().fold(Waiting::default(), |sum, (_, waiting)| sum.and(waiting));
        shown.push((OTHER.to_owned(), OTHER.to_owned(), rest));
    }
    let mut family = |name, help, value: &dyn Fn(&Waiting) -> f64| {
        let mut family = text.family(name, Kind::Gauge, help);
        for (id, name, waiting) in &shown {
            family.sample(&[("account_id", id), ("account", name)], value(waiting));
        }
    };
    family("postrider_account_queue_depth", "Pending deliveries, by account.", &|found| found.rows as f64);
    family("postrider_account_queue_oldest_seconds", "Age of the oldest, by account.", &|found| {
        seconds(found.oldest_at, now)
    });
    family(
        "postrider_account_queue_overdue_seconds",
        "How long the first that is due has waited, by account.",
        &|found| seconds(found.due_since, now),
    );
}

/// A destination that is told apart.
struct Named<'a> {
    id: String,
    name: String,
    found: &'a DestinationQueue,
}

impl<'a> Named<'a> {
    fn of(found: &'a DestinationQueue, catalog: &Catalog) -> Self {
        let known = catalog.destination(found.account, found.id);
        Named {
            id: found.id.to_string(),
            name: known.map(|known| known.name.clone()).unwrap_or_default(),
            found,
        }
    }

    /// The name twice: under ours, and under the one that alerts and dashboards from elsewhere ask for.
    fn labels(&self) -> [(&'static str, &str); 3] {
        [("destination_id", &self.id), ("destination", &self.name), ("destination_name", &self.name)]
    }
}

const OTHERS: [(&str, &str); 3] =
    [("destination_id", OTHER), ("destination", OTHER), ("destination_name", OTHER)];

fn waiting(found: &DestinationQueue, now: Timestamp) -> Waiting {
    let mut waiting = Waiting::default();
    found.lines.iter().for_each(|line| waiting.add(line, now));
    waiting
}

fn destinations(text: &mut Exposition, named: &[Named<'_>], all: &[DestinationQueue], now: Timestamp) {
    let rest = &all[named.len()..];
    let others = rest.iter().fold(Waiting::default(), |sum, found| sum.and(&waiting(found, now)));
    let shown: Vec<Waiting> = named.iter().map(|named| waiting(named.found, now)).collect();
    let mut family = |name, help, value: &dyn Fn(&Waiting) -> f64| {
        let mut family = text.family(name, Kind::Gauge, help);
        for (named, waiting) in named.iter().zip(&shown) {
            family.sample(&named.labels(), value(waiting));
        }
        if !rest.is_empty() {
            family.sample(&OTHERS, value(&others));
        }
    };
    family("postrider_destination_queue_depth", "Pending deliveries, by destination.", &|found| {
        found.rows as f64
    });
    family("postrider_destination_queue_oldest_seconds", "Age of the oldest, by destination.", &|found| {
        seconds(found.oldest_at, now)
    });
    family(
        "postrider_destination_queue_overdue_seconds",
        "How long the first that is due has waited, by destination.",
        &|found| seconds(found.due_since, now),
    );
    let help = "How long the first that is due has waited where nothing but limits keeps it from being sent, by destination.";
    let mut family = text.family("postrider_destination_sendable_overdue_seconds", Kind::Gauge, help);
    let sendable = |found: &DestinationQueue| match found.seen.why.is_limit() {
        true => seconds(waiting(found, now).due_since, now),
        false => 0.0,
    };
    named.iter().for_each(|named| family.sample(&named.labels(), sendable(named.found)));
    if !rest.is_empty() {
        family.sample(&OTHERS, rest.iter().map(sendable).fold(0.0, f64::max));
    }
    let mut family =
        text.family("inflight_per_destination", Kind::Gauge, "Attempts in flight, by destination.");
    named.iter().for_each(|named| family.sample(&named.labels(), named.found.seen.in_flight));
    if !rest.is_empty() {
        family.sample(&OTHERS, rest.iter().map(|found| u64::from(found.seen.in_flight)).sum::<u64>());
    }
}

fn limits(text: &mut Exposition, named: &[Named<'_>]) {
    let mut family =
        text.family("max_concurrency", Kind::Gauge, "Attempts in flight at once at most, by destination.");
    named.iter().for_each(|named| family.sample(&named.labels(), named.found.max_concurrency));
    let help = "Current concurrency limit, by destination.";
    let mut family = text.family("postrider_destination_concurrency_limit", Kind::Gauge, help);
    named.iter().for_each(|named| family.sample(&named.labels(), named.found.seen.limit));
    let help = "Times something was due and all concurrency of its destination was in use, by destination.";
    for (name, kind) in
        [("concurrency_slot_denied_total", Kind::Counter), ("concurrency_slot_denied", Kind::Untyped)]
    {
        let mut family = text.family(name, kind, help);
        named.iter().for_each(|named| family.sample(&named.labels(), named.found.slot_denied));
    }
}

/// Circuits that are not closed are told apart whatever is owed to their destinations.
fn circuits(text: &mut Exposition, queue: &Queue, catalog: &Catalog) {
    let mut counts = [0_usize; CIRCUITS.len()];
    queue.destinations.iter().for_each(|found| counts[circuit_index(found.seen.circuit)] += 1);
    // Those with nothing to see of them are closed too. Others' are told by their nodes.
    let own = catalog.destination_count(queue.totals.shards);
    counts[0] = own.saturating_sub(counts[1] + counts[2]);
    let mut family = text.family("postrider_circuits", Kind::Gauge, "Destinations, by circuit state.");
    for (word, count) in CIRCUITS.iter().zip(counts) {
        family.sample(&[("state", word)], count);
    }
    let help = "1 for each destination whose circuit is not closed.";
    let mut family = text.family("postrider_destination_circuit", Kind::Gauge, help);
    let open = queue.destinations.iter().filter(|found| found.seen.circuit != Circuit::Closed);
    let open: Vec<Named<'_>> = open.take(NAMED_MAX).map(|found| Named::of(found, catalog)).collect();
    for named in &open {
        let [id, destination, name] = named.labels();
        family.sample(&[id, destination, name, ("state", named.found.seen.circuit.as_str())], 1);
    }
    let help = "When the circuit of a destination opened, if it is not closed.";
    let mut family = text.family("postrider_destination_circuit_opened_timestamp_seconds", Kind::Gauge, help);
    for named in &open {
        let opened_at = named.found.seen.opened_at.iter();
        opened_at.for_each(|at| family.sample(&named.labels(), at.unix_ms() as f64 / 1000.0));
    }
    let help = "Failures in a row of a destination whose circuit is not closed, failed probes included.";
    let mut family = text.family("postrider_destination_circuit_failures", Kind::Gauge, help);
    open.iter().for_each(|named| family.sample(&named.labels(), named.found.seen.consecutive_failures));
}
