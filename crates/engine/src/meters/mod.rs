//! What the engine counts of itself, for whoever watches it. Numbers that many threads may read while one writes them:
//! counting takes no lock and waits for nobody.

mod by_destination;
mod destination_health;
mod histogram;
mod shed;
mod shortages;

pub use by_destination::DestinationLatency;
pub use destination_health::DestinationHealth;
pub use histogram::{Histogram, HistogramView};
use postrider_core::breaker::Circuit;
use postrider_core::delivery::{Lane, Priority, Ticket};
use postrider_core::outcome::{DeathReason, Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_store::Finished;
pub use shed::{Shed, ShedCause};
pub use shortages::{ShortageSeen, Shortages};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A count that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Relaxed);
    }

    /// What was counted since the start.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub struct Meters {
    /// Events that were accepted.
    pub accepted: Counter,
    /// Those of them that no route took: nothing is sent for them.
    pub unrouted: Counter,
    /// Events that had been accepted before.
    pub repeated: Counter,
    /// Attempts that ended, by outcome.
    pub attempts: [Counter; Outcome::ALL.len()],
    /// Deliveries that were delivered, by priority.
    pub delivered: [Counter; Priority::COUNT],
    /// Attempts that failed and are followed by another.
    pub retries: Counter,
    /// Deliveries that were given up on, by reason.
    pub dead_letters: [Counter; DeathReason::ALL.len()],
    /// Circuits that came to stand so: closed, open, half-open.
    pub circuits: [Counter; 3],
    /// From when a delivery was due first to its first attempt, by priority.
    pub queue_wait: [Histogram; Priority::COUNT],
    /// From when a delivery was due first to its end as delivered, by priority.
    pub delivery_latency: [Histogram; Priority::COUNT],
    /// The same by destination.
    pub destination_latency: DestinationLatency,
    /// How attempts went, by destination.
    pub destination_health: DestinationHealth,
    /// How long attempts take.
    pub attempt_duration: Histogram,
    /// How long commits take.
    pub commit_duration: Histogram,
    /// Events and outcomes of a commit.
    pub commit_size: SizeHistogram,
    /// Commits that failed.
    pub commits_failed: Counter,
    /// Commits that wrote nothing because the node had been taken for dead.
    pub commits_fenced: Counter,
    /// Starts of attempts that were noted before they were made.
    pub starts_noted: Counter,
    /// Outcomes that were dropped because their shard had been taken over.
    pub fenced: Counter,
    /// Times the lease was renewed.
    pub lease_renewals: Counter,
    /// Attempts that were not begun for want of something of this node's own.
    pub shortages: Shortages,
    /// Events that were refused for want of room.
    pub shed: Shed,
}

/// A histogram of how many.
#[derive(Debug)]
pub struct SizeHistogram(pub Histogram);

impl Default for SizeHistogram {
    fn default() -> Self {
        SizeHistogram(Histogram::of_counts())
    }
}

impl Meters {
    /// The first attempt of a delivery begins. One that is sent again by hand was due long ago.
    pub(crate) fn begins(&self, ticket: &Ticket, due: Timestamp, now: Timestamp) {
        if ticket.attempts == 0 && ticket.line.lane != Lane::Replay {
            self.queue_wait[ticket.priority.index()].note(now.since(due));
        }
    }

    /// An attempt ended; `due` is when its delivery was due first.
    pub(crate) fn ended(&self, finished: &Finished, due: Timestamp) {
        let attempt = &finished.attempt;
        self.attempts[attempt.outcome.index()].add(1);
        self.attempt_duration.note(attempt.timing.total);
        self.destination_health.note(attempt.destination, attempt);
        let (ticket, priority) = (&finished.ticket, finished.ticket.priority.index());
        match attempt.next {
            Next::Delivered => {
                self.delivered[priority].add(1);
                if ticket.line.lane != Lane::Replay {
                    let took = attempt.ended_at().since(due);
                    self.delivery_latency[priority].note(took);
                    self.destination_latency.note(ticket.line.destination, took);
                }
            }
            Next::Retry { .. } => self.retries.add(1),
            Next::Dead(reason) => self.died(reason, 1),
        }
    }

    pub(crate) fn died(&self, reason: DeathReason, count: usize) {
        if let Some(index) = DeathReason::ALL.iter().position(|known| *known == reason) {
            self.dead_letters[index].add(count);
        }
    }

    pub(crate) fn circuit_moved(&self, to: Circuit) {
        self.circuits[circuit_index(to)].add(1);
    }

    pub(crate) fn committed(&self, size: usize, took: Duration) {
        self.commit_duration.note(took);
        self.commit_size.0.note_count(size as u64);
    }
}

/// The words of [`Meters::circuits`].
pub const CIRCUITS: [&str; 3] = ["closed", "open", "half_open"];

/// Where a circuit stands in [`Meters::circuits`].
pub const fn circuit_index(circuit: Circuit) -> usize {
    match circuit {
        Circuit::Closed => 0,
        Circuit::Open { .. } => 1,
        Circuit::HalfOpen => 2,
    }
}
