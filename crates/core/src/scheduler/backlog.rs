//! What waits: of all accounts and of each, by how much it is and how long the longest of it has waited.

use super::{Depth, Scheduler};
use crate::id::{AccountId, DestinationId};
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
    /// The same, but for the time in which a cap of the account was what it waited for: only so much is a want of slots.
    pub uncapped_wait: Duration,
}

/// Since when the first of a destination waits for nothing but a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    account: AccountId,
    since: Timestamp,
}

/// The same account's with two nodes.
impl AddAssign for Backlog {
    fn add_assign(&mut self, other: Self) {
        self.pending += other.pending;
        self.longest_wait = self.longest_wait.max(other.longest_wait);
        self.uncapped_wait = self.uncapped_wait.max(other.uncapped_wait);
    }
}

impl Scheduler {
    /// What waits of each account, if something does.
    pub fn backlogs(&self, now: Timestamp) -> IdMap<AccountId, Backlog> {
        let owed = self.pending_by_account.iter();
        let mut backlogs: IdMap<AccountId, Backlog> =
            owed.map(|(id, pending)| (*id, Backlog { pending: *pending, ..Backlog::default() })).collect();
        for wait in self.waits.values() {
            let found = backlogs.entry(wait.account).or_default();
            found.longest_wait = found.longest_wait.max(now.since(wait.since));
        }
        for (account, found) in &mut backlogs {
            let uncapped = self.queue.uncapped_since(*account).map(|since| now.since(since));
            found.uncapped_wait = found.longest_wait.min(uncapped.unwrap_or_default());
        }
        backlogs
    }

    /// Owed to the destinations of an account.
    pub fn pending_of(&self, account: AccountId) -> Depth {
        self.pending_by_account.get(&account).copied().unwrap_or_default()
    }

    /// How long the longest has waited for nothing but a slot, nor for a cap of its account.
    pub fn longest_wait(&self, now: Timestamp) -> Duration {
        let uncapped = |wait: &Wait| Some(wait.since.max(self.queue.uncapped_since(wait.account)?));
        let first = self.waits.values().filter_map(uncapped).min();
        first.map(|since| now.since(since)).unwrap_or_default()
    }

    /// Takes in since when a destination waits, after anything about it has changed.
    pub(super) fn note_wait(&mut self, id: DestinationId, since: Option<Timestamp>) {
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        if std::mem::replace(&mut destination.noted_wait, since) == since {
            return;
        }
        match since {
            Some(since) => self.waits.insert(id, Wait { account: destination.settings.account, since }),
            None => self.waits.remove(&id),
        };
    }
}
