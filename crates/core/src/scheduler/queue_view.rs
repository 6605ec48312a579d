//! What a destination's queue looks like: more than what it is doing, and dearer to tell.

use super::destination::Destination;
use super::{DestinationView, Scheduler};
use crate::delivery::{Lane, OrderKey, Priority};
use crate::id::{AccountId, DeliveryId, DestinationId};
use crate::time::Timestamp;

/// A destination that is owed something or does not stand as usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationQueue {
    /// Which.
    pub id: DestinationId,
    /// Whose it is.
    pub account: AccountId,
    /// What it is doing.
    pub seen: DestinationView,
    /// Attempts in flight at once, at most.
    pub max_concurrency: u32,
    /// Times something was due and it had no concurrency left.
    pub slot_denied: u64,
    /// What it is owed.
    pub lines: Lines,
}

/// What is owed by priority and lane; those with nothing owed are left out. Nearly always it is one, which takes no memory
/// of its own: a picture may have a hundred thousand of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    first: Option<LineQueue>,
    others: Vec<LineQueue>,
}

impl Lines {
    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &LineQueue> {
        self.first.iter().chain(&self.others)
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut LineQueue> {
        self.first.iter_mut().chain(&mut self.others)
    }
}

impl FromIterator<LineQueue> for Lines {
    fn from_iter<I: IntoIterator<Item = LineQueue>>(lines: I) -> Self {
        let mut lines = lines.into_iter();
        Lines { first: lines.next(), others: lines.collect() }
    }
}

/// What is owed of one priority and lane. The keys of an ordered lane are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineQueue {
    /// How urgent.
    pub priority: Priority,
    /// Which lane.
    pub lane: Lane,
    /// Deliveries, those in flight included.
    pub rows: u64,
    /// The oldest of those that wait, as far as they are in memory.
    pub oldest: Option<Oldest>,
    /// When the first of those that wait is or was due.
    pub due: Option<Timestamp>,
}

/// The oldest of several deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Oldest {
    /// Which; its id tells when it was accepted.
    pub delivery: DeliveryId,
    /// Attempts already made.
    pub attempts: u32,
}

impl DestinationQueue {
    /// When the first of those that wait is attempted: when it is due, or when what holds all of them ends. Unknown when it
    /// is due already and waits for something else than time.
    pub fn next_attempt_at(&self, now: Timestamp) -> Option<Timestamp> {
        let due =
            self.lines.iter().filter_map(|line| line.due).min().filter(|_| !self.seen.is_held_for_good())?;
        Some(self.seen.until.map_or(due, |until| due.max(until))).filter(|next| *next > now)
    }
}

impl Scheduler {
    /// Looks at the queues of some destinations, until it has looked at so many deliveries; gives how many destinations
    /// that were. So the one who asks, and not the number of destinations, says for how long nothing else is decided.
    pub fn queues(
        &self,
        ids: &[DestinationId],
        now: Timestamp,
        budget: usize,
        found: &mut Vec<DestinationQueue>,
    ) -> usize {
        let mut spent = 0;
        for (looked_at, id) in ids.iter().enumerate() {
            if spent > budget {
                return looked_at;
            }
            spent += 1;
            let Some(destination) = self.destinations.get(id).filter(|found| found.is_notable()) else {
                continue;
            };
            spent += destination.waiting();
            found.push(destination.queue(*id, now));
        }
        ids.len()
    }

    /// Attempts that may be in flight at once.
    pub fn slots(&self) -> usize {
        self.slots
    }
}

impl Destination {
    fn queue(&self, id: DestinationId, now: Timestamp) -> DestinationQueue {
        let mut lines = self.owed_lines();
        for window in &self.windows {
            if let Some((oldest, due)) = window.oldest().zip(window.first_due()) {
                note(&mut lines, window.line().priority, window.line().lane, oldest, due);
            }
        }
        for (priority, oldest, due) in self.ordered.iter().flat_map(|ordered| ordered.heads()) {
            note(&mut lines, priority, Lane::Ordered(OrderKey::WHOLE), oldest, due);
        }
        DestinationQueue {
            id,
            account: self.settings.account,
            seen: self.view(now),
            max_concurrency: self.settings.max_concurrency.get(),
            slot_denied: self.slot_denied,
            lines,
        }
    }

    fn owed_lines(&self) -> Lines {
        let cells = Priority::ALL.into_iter().flat_map(|priority| Lane::ALL.map(|lane| (priority, lane)));
        let lines = cells.map(|(priority, lane)| {
            let rows = self.by_line.rows(priority, lane);
            LineQueue { priority, lane, rows, oldest: None, due: None }
        });
        lines.filter(|line| line.rows > 0).collect()
    }
}

/// What an earlier run left of an ordered lane stands under one priority, whatever its heads have.
fn note(lines: &mut Lines, priority: Priority, lane: Lane, oldest: Oldest, due: Timestamp) {
    let is_exact = |line: &LineQueue| line.priority == priority && line.lane == lane;
    let place = lines.iter().position(is_exact).or_else(|| lines.iter().position(|line| line.lane == lane));
    let Some(line) = place.and_then(|place| lines.iter_mut().nth(place)) else { return };
    line.oldest = Some(line.oldest.map_or(oldest, |known| known.min(oldest)));
    line.due = Some(line.due.map_or(due, |known| known.min(due)));
}
