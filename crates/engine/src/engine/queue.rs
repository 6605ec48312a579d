//! What is owed right now, as a picture of all destinations that are owed something or do not stand as usual.
//!
//! It is taken in steps of a bounded length, so that deciding and sending go on meanwhile however many destinations
//! there are, and whoever asks within a moment shares it.

use super::Engine;
use crate::dispatch::Control;
use postrider_core::delivery::Ticket;
use postrider_core::id::{AccountId, DestinationId, time_of};
use postrider_core::map::IdMap;
use postrider_core::scheduler::{Backlog, Counters, Depth, DestinationQueue, LineQueue, Oldest, Scheduler};
use postrider_core::time::Timestamp;
use postrider_store::Shards;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, oneshot};

/// A picture serves all who ask for one within so long, at least.
pub(super) const FRESH: Duration = Duration::from_millis(250);
/// And for so many times what it held the dispatcher up: of a great many destinations it takes some 50 ms, and whoever asks
/// every second is not to cost more than a fiftieth of what is delivered.
const FRESH_FACTOR: u32 = 50;
/// But no longer than this: a thread that had to wait for its CPU took long for little.
const FRESH_MAX: Duration = Duration::from_secs(5);
/// The dispatcher answers between two commits. A disk that hangs must not keep people from what was known before.
const TAKE_MAX: Duration = Duration::from_secs(1);
/// Deliveries and destinations looked at in one step: 2 ms for those that no cache has, of which nothing else is decided.
const STEP_MAX: usize = 4096;

/// What is owed right now by this node.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// When the picture was taken.
    pub taken_at: Timestamp,
    /// How the node as a whole stands.
    pub totals: QueueTotals,
    /// The deepest first; of the equally deep the oldest first.
    pub destinations: Vec<DestinationQueue>,
}

/// How the node as a whole stands.
#[derive(Clone, Debug, Default)]
pub struct QueueTotals {
    /// Attempts that may be in flight at once.
    pub slots: usize,
    /// Deliveries in flight.
    pub in_flight: Vec<Ticket>,
    /// Their bytes, as far as they count against [`Self::bytes_max`].
    pub bytes_in_flight: u64,
    /// Above which no further large body is sent.
    pub bytes_max: u64,
    /// Owed in all.
    pub pending: Depth,
    /// What waits of each account.
    pub accounts: IdMap<AccountId, Backlog>,
    /// How long the longest has waited for nothing but a slot.
    pub longest_wait: Duration,
    /// Counts since the start.
    pub counters: Counters,
    /// Shards of which this node sends.
    pub shards: Shards,
}

impl QueueTotals {
    pub(crate) fn of(scheduler: &Scheduler, own: Shards, now: Timestamp) -> Self {
        QueueTotals {
            slots: scheduler.slots(),
            in_flight: scheduler.in_flight().copied().collect(),
            bytes_in_flight: scheduler.bytes_in_flight(),
            bytes_max: scheduler.byte_limits().node,
            pending: scheduler.pending(),
            accounts: scheduler.backlogs(now),
            longest_wait: scheduler.longest_wait(now),
            counters: scheduler.counters(),
            shards: own,
        }
    }
}

/// One step of taking the picture.
pub(crate) struct QueueStep {
    /// Of which destinations.
    ids: Arc<[DestinationId]>,
    /// How many of them have been looked at.
    looked_at: usize,
    found: Vec<DestinationQueue>,
    /// How long the dispatcher did nothing else.
    took: Duration,
}

impl QueueStep {
    pub(crate) fn look(mut self, scheduler: &Scheduler, now: Timestamp) -> Self {
        let began = Instant::now();
        let rest = &self.ids[self.looked_at..];
        self.looked_at += scheduler.queues(rest, now, STEP_MAX, &mut self.found);
        self.took += began.elapsed();
        self
    }
}

/// The last picture. Held while one is taken, so that those who ask meanwhile wait for it instead of taking another.
#[derive(Default)]
pub(super) struct LastQueue(Mutex<Last>);

#[derive(Default)]
struct Last {
    picture: Arc<Queue>,
    /// When one was asked for last, in vain or not.
    asked_at: Timestamp,
    /// How long the dispatcher took for it.
    took: Duration,
    /// The room of the one before: to get as much from the system each time would take as long as the looking.
    spare: Vec<DestinationQueue>,
}

impl Last {
    fn is_fresh(&self, now: Timestamp) -> bool {
        let fresh_for = (self.took * FRESH_FACTOR).clamp(FRESH, FRESH_MAX);
        self.asked_at != Timestamp::ZERO && now.since(self.asked_at) < fresh_for
    }

    fn replace(&mut self, picture: Queue, took: Duration) {
        let room = 2 * picture.destinations.len();
        let before = std::mem::replace(&mut self.picture, Arc::new(picture));
        self.took = took;
        // Somebody may still look at it.
        self.spare = Arc::try_unwrap(before).map(|before| before.destinations).unwrap_or_default();
        self.spare.clear();
        self.spare.shrink_to(room);
    }
}

impl Engine {
    /// What is owed right now, or was a moment ago. While a commit hangs it is what was owed before, as `taken_at` says.
    pub async fn queue(&self) -> Arc<Queue> {
        let mut last = self.last_queue.0.lock().await;
        if !last.is_fresh(self.clock.now()) {
            let room = std::mem::take(&mut last.spare);
            let taken = tokio::time::timeout(TAKE_MAX, self.take_queue(room)).await;
            last.asked_at = self.clock.now();
            match taken {
                Ok((taken, took)) => last.replace(taken, took),
                // Nothing was known before, and nothing is at this time.
                Err(_) if last.picture.taken_at == Timestamp::ZERO => {
                    last.picture = Arc::new(Queue { taken_at: last.asked_at, ..Queue::default() });
                }
                Err(_) => {}
            }
        }
        Arc::clone(&last.picture)
    }

    /// With how long it held the dispatcher up.
    async fn take_queue(&self, room: Vec<DestinationQueue>) -> (Queue, Duration) {
        let (reply, totals) = oneshot::channel();
        self.tell(Control::Totals(reply)).await;
        let totals: QueueTotals = totals.await.unwrap_or_default();
        let ids: Vec<DestinationId> = self.catalog().destination_ids().collect();
        let mut step = QueueStep { ids: ids.into(), looked_at: 0, found: room, took: Duration::ZERO };
        while step.looked_at < step.ids.len() {
            let (reply, stepped) = oneshot::channel();
            self.tell(Control::Queues(step, reply)).await;
            match stepped.await {
                Ok(next) => step = next,
                // It is stopping, and nothing is owed any more as far as it can tell.
                Err(_) => return (Queue::default(), Duration::ZERO),
            }
        }
        let mut destinations = step.found;
        add_in_flight(&mut destinations, &totals.in_flight);
        // By keys beside them: there may be a hundred thousand, and each is large to move.
        destinations.sort_by_cached_key(|found| (std::cmp::Reverse(found.seen.pending.rows), found.id));
        (Queue { taken_at: self.clock.now(), totals, destinations }, step.took)
    }
}

/// What is in flight is owed too, and often the oldest.
fn add_in_flight(destinations: &mut [DestinationQueue], in_flight: &[Ticket]) {
    let mut of_destination: IdMap<DestinationId, Vec<&Ticket>> = IdMap::default();
    in_flight
        .iter()
        .for_each(|ticket| of_destination.entry(ticket.line.destination).or_default().push(ticket));
    for found in destinations {
        for ticket in of_destination.get(&found.id).into_iter().flatten() {
            let of_ticket = |line: &&mut LineQueue| {
                line.priority == ticket.priority && line.lane.number() == ticket.line.lane.number()
            };
            if let Some(line) = found.lines.iter_mut().find(of_ticket) {
                let oldest = Oldest { delivery: ticket.delivery, attempts: ticket.attempts };
                line.oldest = Some(line.oldest.map_or(oldest, |known| known.min(oldest)));
            }
        }
    }
}

/// How much waits, and since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Deliveries, those in flight included.
    pub rows: u64,
    /// When the oldest of them was accepted.
    pub oldest_at: Option<Timestamp>,
    /// Since when the first of those that are not in flight is due.
    pub due_since: Option<Timestamp>,
}

impl Waiting {
    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Waiting) -> Self {
        self.rows += other.rows;
        self.oldest_at = [self.oldest_at, other.oldest_at].into_iter().flatten().min();
        self.due_since = [self.due_since, other.due_since].into_iter().flatten().min();
        self
    }

    /// Adds a line.
    pub fn add(&mut self, line: &LineQueue, now: Timestamp) {
        let accepted_at = line.oldest.map(|oldest| time_of(oldest.delivery.as_u64()));
        self.rows += line.rows;
        self.oldest_at = [self.oldest_at, accepted_at].into_iter().flatten().min();
        let due = line.due.filter(|due| *due <= now);
        self.due_since = [self.due_since, due].into_iter().flatten().min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_was_dear_serves_for_longer() {
        let at = Timestamp::from_unix_ms(1_800_000_000_000);
        let last = |took_ms| Last { asked_at: at, took: Duration::from_millis(took_ms), ..Last::default() };
        let is_fresh = |took_ms, after_ms| last(took_ms).is_fresh(at.after(Duration::from_millis(after_ms)));
        for (took_ms, fresh_for_ms) in [(0, 250), (5, 250), (40, 2000), (1000, 5000)] {
            assert!(is_fresh(took_ms, fresh_for_ms - 1), "{took_ms}");
            assert!(!is_fresh(took_ms, fresh_for_ms), "{took_ms}");
        }
        assert!(!Last::default().is_fresh(Timestamp::ZERO), "there is none before the first");
    }
}
