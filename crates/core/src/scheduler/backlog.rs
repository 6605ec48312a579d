//! What waits: of all accounts and of each, by how much it is and how long the longest of it has waited.

use super::{Depth, Scheduler};
use crate::id::AccountId;
use crate::map::IdMap;
use crate::time::Timestamp;
use std::ops::AddAssign;
use std::time::Duration;

/// What waits of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How much it is owed.
    pub pending: Depth,
    /// How long the longest has waited for nothing but a slot.
    pub longest_wait: Duration,
}

/// The same account's with two nodes.
impl AddAssign for Backlog {
    fn add_assign(&mut self, other: Self) {
        self.pending += other.pending;
        self.longest_wait = self.longest_wait.max(other.longest_wait);
    }
}

impl Scheduler {
    /// What waits of each account, if something does.
    pub fn backlogs(&self, now: Timestamp) -> IdMap<AccountId, Backlog> {
        let owed = self.pending_by_account.iter();
        let mut backlogs: IdMap<AccountId, Backlog> = owed
            .map(|(id, pending)| (*id, Backlog { pending: *pending, longest_wait: Duration::ZERO }))
            .collect();
        for (account, wait) in self.waits(now) {
            let found = backlogs.entry(account).or_default();
            found.longest_wait = found.longest_wait.max(wait);
        }
        backlogs
    }

    /// Owed to the destinations of an account.
    pub fn pending_of(&self, account: AccountId) -> Depth {
        self.pending_by_account.get(&account).copied().unwrap_or_default()
    }

    /// How long the longest has waited for nothing but a slot.
    pub fn longest_wait(&self, now: Timestamp) -> Duration {
        self.waits(now).map(|(_, wait)| wait).max().unwrap_or_default()
    }

    /// How long the first of each destination has waited for nothing but a slot.
    fn waits(&self, now: Timestamp) -> impl Iterator<Item = (AccountId, Duration)> + '_ {
        let queued = self.destinations.values().filter(|found| found.queued.contains(&true));
        queued.filter_map(move |found| {
            found.waits_since(now).map(|since| (found.settings.account, now.since(since)))
        })
    }
}
