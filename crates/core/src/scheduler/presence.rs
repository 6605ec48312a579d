//! Which accounts there are to leave slots to: those that are owed something or have something in flight, and those of
//! which that was so a moment ago.
//!
//! Between two of its events a tenant with few of them is owed nothing. If it were gone then, a flood of another would
//! have all slots when the next one comes, and keep them for as long as its receivers take.

use crate::id::AccountId;
use crate::limits::ACCOUNT_LINGER;
use crate::map::IdMap;
use crate::time::Timestamp;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct Presence {
    /// Until when each is there.
    until: IdMap<AccountId, Timestamp>,
    /// The same, the first to go first.
    order: BTreeSet<(Timestamp, AccountId)>,
}

impl Presence {
    /// It is owed something or has something in flight.
    pub(super) fn stay(&mut self, account: AccountId) {
        self.set(account, Timestamp::MAX);
    }

    /// It is owed nothing any more.
    pub(super) fn linger(&mut self, account: AccountId, now: Timestamp) {
        self.set(account, now.after(ACCOUNT_LINGER));
    }

    fn set(&mut self, account: AccountId, until: Timestamp) {
        if let Some(before) = self.until.insert(account, until) {
            self.order.remove(&(before, account));
        }
        self.order.insert((until, account));
    }

    /// Lets those go whose time has come.
    pub(super) fn pass(&mut self, now: Timestamp) {
        while let Some((_, account)) = self.order.first().copied().filter(|(until, _)| *until <= now) {
            self.order.pop_first();
            self.until.remove(&account);
        }
    }

    /// When the next one goes, if nothing happens.
    pub(super) fn next_to_go(&self) -> Option<Timestamp> {
        self.order.first().map(|(until, _)| *until).filter(|until| *until < Timestamp::MAX)
    }

    pub(super) fn has_others_than(&self, account: AccountId) -> bool {
        self.until.len() > usize::from(self.until.contains_key(&account))
    }
}
