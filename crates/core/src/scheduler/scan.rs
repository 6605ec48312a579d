//! Going through the store's keys of an ordered lane, pass after pass, while something was left to it.
//!
//! Every key that the store holds and memory does not was left out in this pass, so that another follows, or lies before the
//! pass, or has a head that is due later: then a pass begins by that time.

use crate::delivery::OrderKey;
use crate::time::Timestamp;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The store may hold keys that are not here.
    beyond: bool,
    asked: bool,
    /// The last key that was looked at.
    after: Option<OrderKey>,
    /// Since the pass began, something was left to the store that may be due.
    left_out: bool,
    /// Since the pass began, keys were left to the store of which the first is due then.
    due_at: Option<Timestamp>,
    began: Timestamp,
    /// A pass takes no more than half of the time, however soon the next key is due.
    rests_until: Timestamp,
    /// All lines were unblocked while a page was on its way.
    stale: bool,
    /// Keys of which something was left to the store while a page was on its way.
    missed: BTreeSet<OrderKey>,
}

impl Scan {
    pub(super) fn is_beyond(&self) -> bool {
        self.beyond
    }

    pub(super) fn is_asked(&self) -> bool {
        self.asked
    }

    /// The store holds keys that we have not seen, which a pass that has begun may have passed.
    pub(super) fn leave_some(&mut self) {
        self.beyond = true;
        self.left_out = true;
    }

    /// Some of a key is left to the store.
    pub(super) fn leave(&mut self, key: OrderKey) {
        self.leave_some();
        self.miss(key);
    }

    /// All of a key is left to the store, which is of no use before its head is due.
    pub(super) fn leave_until(&mut self, due: Timestamp, key: OrderKey) {
        self.beyond = true;
        self.due_at = Some(self.due_at.map_or(due, |first| first.min(due)));
        self.miss(key);
    }

    fn miss(&mut self, key: OrderKey) {
        if self.asked {
            self.missed.insert(key);
        }
    }

    /// All lines were unblocked.
    pub(super) fn unblocked_all(&mut self) {
        self.stale = self.asked;
    }

    /// When the next pass begins, if one waits for nothing but time.
    pub(super) fn next_pass(&self) -> Option<Timestamp> {
        let rests = self.beyond && !self.asked && self.after.is_none() && !self.left_out;
        self.due_at.filter(|_| rests).map(|due| due.max(self.rests_until))
    }

    pub(super) fn wants_page(&self, now: Timestamp) -> bool {
        self.beyond && !self.asked && self.next_pass().is_none_or(|at| at <= now)
    }

    /// A page is asked for, of keys past the one that is given.
    pub(super) fn page_asked(&mut self, now: Timestamp) -> Option<OrderKey> {
        if self.after.is_none() {
            // It finds whatever was left out before.
            (self.left_out, self.due_at, self.began) = (false, None, now);
        }
        self.asked = true;
        self.after
    }

    /// A page came; gives the keys of which it may not have all, or nothing if it may show heads that are gone and is asked
    /// for again.
    pub(super) fn page_came(&mut self) -> Option<BTreeSet<OrderKey>> {
        self.asked = false;
        let missed = std::mem::take(&mut self.missed);
        if std::mem::take(&mut self.stale) {
            self.left_out |= !missed.is_empty();
            return None;
        }
        Some(missed)
    }

    /// The page was looked at, up to this key; `None` when there were no more.
    pub(super) fn passed(&mut self, reached: Option<OrderKey>, now: Timestamp) {
        self.after = reached;
        if reached.is_none() {
            self.beyond = self.left_out || self.due_at.is_some();
            self.rests_until = now.after(now.since(self.began));
        }
    }

    pub(super) fn page_failed(&mut self) {
        self.asked = false;
        self.stale = false;
        self.missed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_pass_waits_for_what_is_due_and_rests_for_as_long_as_the_last_took() {
        let second = |count| Timestamp::from_unix_ms(1_000_000).after(Duration::from_secs(count));
        for (due, expected) in [(15, 20), (25, 25)] {
            let mut scan = Scan::default();
            scan.leave_some();
            assert!(scan.wants_page(second(0)) && scan.page_asked(second(0)).is_none());
            scan.leave_until(second(due), OrderKey::WHOLE);
            scan.page_came();
            scan.passed(None, second(10));
            assert_eq!(scan.next_pass(), Some(second(expected)));
            assert!(!scan.wants_page(second(expected - 1)) && scan.wants_page(second(expected)));
            scan.leave_some();
            assert!(scan.wants_page(second(11)), "what may be due waits for nothing but room");
        }
    }
}
