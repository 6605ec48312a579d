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
    /// The most tickets that the scheduler held.
    pub waiting_max: usize,
    /// Inputs that the scheduler took.
    pub steps: u64,
    /// How much time passed in the world.
    pub simulated: Duration,
}
