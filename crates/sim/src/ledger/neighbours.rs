//! Whether an account has all that it may have in flight: its cap, or without one three quarters of the slots, and all
//! but one of those that are open to a priority, while another account is owed something or was within the last minute.
//! Only a cap of its own keeps it out of slots that are kept for a priority which has fewer in flight.
//!
//! News are on their way for a while, so that the checker knows of some accounts only that they may count.

use super::Ledger;
use postrider_core::delivery::{Priority, Ticket};
use postrider_core::id::AccountId;
use postrider_core::time::Timestamp;
use std::time::Duration;

/// So long after its last an account counts.
const LINGER: Duration = Duration::from_secs(60);
/// Longer than news are on their way.
const NEWS_MAX: Duration = Duration::from_secs(60);

/// Of so many slots one is left to another account.
const OPEN_FOR_ANOTHER: u32 = 4;

/// What keeps an account from more slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cap {
    Own,
    AmongOthers,
}

/// When an account was last seen with something.
#[derive(Debug, Default)]
pub(super) struct Seen {
    in_flight: Option<Timestamp>,
    owed: Option<Timestamp>,
}

impl Ledger {
    /// An attempt of an account gives its slot back.
    pub(super) fn note_ended(&mut self, account: AccountId, now: Timestamp) {
        self.seen.entry(account).or_default().in_flight = Some(now);
    }

    /// A new run knows of no earlier attempts.
    pub(super) fn forget_ended(&mut self) {
        self.seen.values_mut().for_each(|seen| seen.in_flight = None);
    }

    pub(super) fn note_owed(&mut self, now: Timestamp) {
        let owed = self.owed.iter().filter(|(_, owed)| owed.len() > 0);
        let owed = owed.filter_map(|(id, _)| self.destinations.get(id)).map(|terms| terms.account);
        let in_flight = self.in_flight.values().map(|flight| flight.account);
        let busy: Vec<AccountId> = owed.chain(in_flight).collect();
        for account in busy {
            self.seen.entry(account).or_default().owed = Some(now);
        }
    }

    /// Whether an account surely has all that it may have, so that this may not be sent.
    pub(super) fn is_full(&self, account: AccountId, now: Timestamp, sent: &Ticket) -> bool {
        let there = |other: &AccountId| {
            let recent = |at: Timestamp| now < at.after(LINGER);
            self.used_by(*other) > 0
                || self.seen.get(other).and_then(|seen| seen.in_flight).is_some_and(recent)
        };
        // What waited long enough to be raised may have the slot of a more urgent band.
        let young = self.is_young(sent.due, now);
        let possible = |band: &Priority| *band == sent.priority || (!young && *band < sent.priority);
        let under_floor = |band: Priority| self.surely_in(band) < self.options.floors.of(band) as usize;
        match self.cap_reached(account, there) {
            None => false,
            Some(Cap::Own) => true,
            Some(Cap::AmongOthers) => !Priority::ALL.into_iter().filter(possible).any(under_floor),
        }
    }

    /// Whether it may have, so that what is due since then at a priority may have to wait.
    pub(super) fn may_be_full(
        &self,
        account: AccountId,
        now: Timestamp,
        (band, due): (Priority, Timestamp),
    ) -> bool {
        let may_be_there = |other: &AccountId| {
            let recent = |at: Timestamp| now <= at.after(LINGER + NEWS_MAX);
            self.seen.get(other).and_then(|seen| seen.owed).is_some_and(recent)
        };
        let floor = self.options.floors.of(band) as usize;
        let under_floor = self.is_young(due, now) && self.possibly_in(band) < floor;
        match self.cap_reached(account, may_be_there) {
            None => false,
            Some(Cap::Own) => true,
            Some(Cap::AmongOthers) => !under_floor,
        }
    }

    fn cap_reached(&self, account: AccountId, counts: impl Fn(&AccountId) -> bool) -> Option<Cap> {
        let slots = self.options.slots;
        let others = self.accounts.keys().any(|other| *other != account && counts(other));
        let floors = Priority::ALL.map(|band| self.options.floors.of(band));
        let open = slots - floors.iter().sum::<u32>() + floors.into_iter().min().unwrap_or(0);
        let left = if open < OPEN_FOR_ANOTHER { open } else { open - 1 };
        let among_others = others.then_some((Cap::AmongOthers, (slots - slots / 4).min(left).max(1)));
        let own = self.accounts.get(&account).and_then(|share| share.max_in_flight);
        let (cap, most) = own.map(|own| (Cap::Own, own)).or(among_others)?;
        (self.used_by(account) >= most as usize).then_some(cap)
    }

    fn used_by(&self, account: AccountId) -> usize {
        self.in_flight.values().filter(|flight| flight.account == account).count()
    }
}
