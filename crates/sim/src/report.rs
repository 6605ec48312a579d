//! What a world came to.

use std::time::Duration;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Deliveries accepted.
    pub accepted: u64,
    /// Attempts started.
    pub sent: u64,
    /// Deliveries that the receiver has.
    pub delivered: u64,
    /// Deliveries given up on.
    pub dead: u64,
    /// Deliveries that went down with a deleted destination.
    pub buried: u64,
    /// Times a dead letter was made owed again.
    pub revived: u64,
    /// Dead letters taken off the lists.
    pub discarded: u64,
    /// Dead letters that blocked an ordered line.
    pub blocked: u64,
    /// Times a circuit opened.
    pub opened: u64,
    /// Circuits that a start found open.
    pub restored: u64,
    /// Times a receiver's wish to be left alone held its destination.
    pub held: u64,
    /// Times the slots and floors were changed under way.
    pub limited: u64,
    /// Attempts made again because a crash hid what became of them.
    pub repeated: u64,
    /// Crashes.
    pub crashes: u64,
    /// Orderly stops.
    pub stops: u64,
    /// Commits that failed.
    pub failed_commits: u64,
    /// Pages asked for.
    pub pages: u64,
    /// Pages that failed.
    pub failed_pages: u64,
    /// The most that was owed at once.
    pub owed_max: usize,
    /// The most attempts at once.
    pub in_flight_max: usize,
    /// The most tickets that the scheduler held.
    pub waiting_max: usize,
    /// Inputs that the scheduler took.
    pub steps: u64,
    /// How much time passed in the world.
    pub simulated: Duration,
}

impl Report {
    /// Adds up the counts of several worlds; of what is a maximum the greatest stays.
    pub fn add(&mut self, other: &Report) {
        self.accepted += other.accepted;
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.dead += other.dead;
        self.buried += other.buried;
        self.revived += other.revived;
        self.discarded += other.discarded;
        self.blocked += other.blocked;
        self.opened += other.opened;
        self.restored += other.restored;
        self.held += other.held;
        self.limited += other.limited;
        self.repeated += other.repeated;
        self.crashes += other.crashes;
        self.stops += other.stops;
        self.failed_commits += other.failed_commits;
        self.pages += other.pages;
        self.failed_pages += other.failed_pages;
        self.owed_max = self.owed_max.max(other.owed_max);
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        self.waiting_max = self.waiting_max.max(other.waiting_max);
        self.steps += other.steps;
        self.simulated += other.simulated;
    }
}
