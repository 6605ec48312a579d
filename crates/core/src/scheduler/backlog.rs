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
        self.waits.values().map(move |wait| (wait.account, now.since(wait.since)))
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
