//! Whose turn it is: bands by priority with reserved floors, in a band the accounts by weight, in an account its
//! destinations in turn.
//!
//! Only those that may send stand here. Who turns out not to be able to when its turn comes is left out, and comes
//! back when something has changed. So a turn costs the same whatever is configured and whatever waits.

use super::Share;
use super::presence::Presence;
use crate::delivery::Priority;
use crate::id::{AccountId, DestinationId};
use crate::map::IdMap;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// Slots that a band may always have when it has something to send, the most urgent first. What is not in use of
/// them is out of reach of the less urgent (from 32 slots on), so that the urgent find a slot however long the others keep theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floors([u32; Priority::COUNT]);

impl Floors {
    /// Checks that they fit into the slots together.
    pub fn new(floors: [u32; Priority::COUNT], slots: u32) -> Option<Self> {
        let sum: u64 = floors.iter().copied().map(u64::from).sum();
        (sum <= u64::from(slots)).then_some(Floors(floors))
    }

    /// A sixteenth for each, and for bulk half of that; at least one each as far as they go.
    pub fn of_slots(slots: u32) -> Self {
        let share = |part: u32| (slots / part).max(u32::from(slots >= 4));
        Floors([share(16), share(16), share(16), share(32)])
    }

    /// Of a band.
    pub const fn of(self, band: Priority) -> u32 {
        self.0[band.index()]
    }
}

/// With fewer slots none is kept free for the more urgent: it would be a great share of them.
const KEEPS_FROM_SLOTS: u32 = 32;

#[derive(Debug)]
pub(super) struct FairQueue {
    slots: u32,
    floors: Floors,
    /// What an account without a cap of its own may have in flight while there are others.
    cap_among_others: u32,
    bands: [Band; Priority::COUNT],
    accounts: IdMap<AccountId, Account>,
    /// Those that count as others.
    presence: Presence,
    /// The account that has all that others leave it: no two can have three quarters.
    capped: Option<AccountId>,
    now: Timestamp,
}

#[derive(Debug, Default)]
struct Band {
    /// Accounts with something to send, in turn.
    ring: VecDeque<AccountId>,
    in_flight: u32,
}

#[derive(Debug, Default)]
struct Account {
    share: Share,
    in_flight: u32,
    /// It has all that it may have in flight, and there are more slots than that.
    capped: bool,
    /// Since when it is not.
    uncapped_since: Timestamp,
    /// Something is owed to its destinations.
    owed: bool,
    /// It was deleted, and is forgotten once nothing of it is in flight.
    gone: bool,
    turns: [Turn; Priority::COUNT],
}

/// An account's destinations in one band.
#[derive(Debug, Default)]
struct Turn {
    ring: VecDeque<DestinationId>,
    /// Sends left before the next account has its turn.
    credit: u32,
    /// Stands in the band's ring.
    in_ring: bool,
}

impl FairQueue {
    pub(super) fn new(slots: u32, floors: Floors, cap_among_others: u32) -> Self {
        FairQueue {
            slots,
            floors,
            cap_among_others,
            bands: Default::default(),
            accounts: IdMap::default(),
            presence: Presence::default(),
            capped: None,
            now: Timestamp::ZERO,
        }
    }

    /// Time passes: who was alone for long enough may have all slots.
    pub(super) fn pass(&mut self, now: Timestamp) {
        self.now = now;
        self.presence.pass(now);
        if let Some(capped) = self.capped {
            self.admit(capped);
        }
    }

    /// When time alone opens slots to somebody.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.capped.and(self.presence.next_to_go())
    }

    /// An account exists or its share changed.
    pub(super) fn share(&mut self, account: AccountId, share: Share) {
        let found = self.accounts.entry(account).or_default();
        (found.share, found.gone) = (share, false);
        self.admit(account);
        self.dismiss_if_full(account);
    }

    /// An account is gone, and its destinations before it. What it has in flight keeps its slots.
    pub(super) fn forget(&mut self, account: AccountId) {
        Priority::ALL.into_iter().for_each(|band| self.dismiss(band, account));
        let Some(found) = self.accounts.get_mut(&account) else { return };
        (found.turns, found.gone) = (Default::default(), true);
        self.forget_if_gone(account);
    }

    fn forget_if_gone(&mut self, account: AccountId) {
        if self.accounts.get(&account).is_some_and(|found| found.gone && found.is_spent()) {
            self.accounts.remove(&account);
            self.capped = self.capped.filter(|capped| *capped != account);
        }
    }

    /// Something is owed to an account.
    pub(super) fn owes(&mut self, account: AccountId) {
        self.change(account, |found| found.owed = true);
    }

    /// Nothing is owed to it any more.
    pub(super) fn owes_nothing(&mut self, account: AccountId) {
        self.change(account, |found| found.owed = false);
        self.forget_if_gone(account);
    }

    /// Changes what an account has, and with it whether others leave slots to it.
    fn change(&mut self, account: AccountId, change: impl FnOnce(&mut Account)) {
        let found = self.accounts.entry(account).or_default();
        let before = found.is_busy();
        change(found);
        match (before, found.is_busy()) {
            (false, true) => self.presence.stay(account),
            (true, false) => self.presence.linger(account, self.now),
            _ => {}
        }
    }

    /// A destination may send in this band. The caller sees to it that it stands there once.
    pub(super) fn push(&mut self, band: Priority, account: AccountId, destination: DestinationId) {
        let found = self.accounts.entry(account).or_default();
        found.turns[band.index()].ring.push_back(destination);
        self.admit(account);
    }

    /// Whose turn it is. The destination leaves the queue; [`FairQueue::push`] puts it back.
    pub(super) fn pop(&mut self) -> Option<(Priority, DestinationId)> {
        loop {
            let band = self.next_band()?;
            let account = *self.bands[band.index()].ring.front()?;
            // It may have been alone when it had its last turn.
            if self.dismiss_if_full(account) {
                continue;
            }
            let turn = &mut self.accounts.get_mut(&account)?.turns[band.index()];
            match turn.ring.pop_front() {
                Some(destination) => return Some((band, destination)),
                // It keeps its turn until now, so that one with a single destination is not cut short.
                None => {
                    turn.credit = 0;
                    self.dismiss(band, account);
                }
            }
        }
    }

    /// A band under its floor, the most urgent first; else the most urgent that has a slot open to it.
    fn next_band(&self) -> Option<Priority> {
        let waits = |band: &Priority| !self.bands[band.index()].ring.is_empty();
        let mut waiting = Priority::ALL.into_iter().filter(waits);
        let under_floor = waiting.clone().find(|band| self.is_under_floor(*band));
        under_floor.or_else(|| waiting.find(|band| self.open_slots(*band) > 0))
    }

    fn is_under_floor(&self, band: Priority) -> bool {
        self.bands[band.index()].in_flight < self.floors.of(band) && self.free_slots() > 0
    }

    fn free_slots(&self) -> u32 {
        self.slots - self.bands.iter().map(|band| band.in_flight).sum::<u32>()
    }

    /// Slots that a band may have now: all that are free, but those kept for the more urgent.
    pub(super) fn open_slots(&self, band: Priority) -> u32 {
        if self.slots < KEEPS_FROM_SLOTS {
            return self.free_slots();
        }
        let kept =
            |urgent: Priority| self.floors.of(urgent).saturating_sub(self.bands[urgent.index()].in_flight);
        let urgent = Priority::ALL.into_iter().take_while(|urgent| *urgent < band);
        let open = self.free_slots().saturating_sub(urgent.map(kept).sum());
        if self.is_under_floor(band) { open.max(1) } else { open }
    }

    /// Whether a slot of a band may go to a less urgent one: another is left for whoever else of the band waits.
    pub(super) fn may_give(&self, band: Priority, less: Priority) -> bool {
        self.open_slots(band) > 1 && self.open_slots(less) > 0
    }

    /// What [`FairQueue::pop`] gave was sent.
    pub(super) fn sent(&mut self, band: Priority, account: AccountId) {
        self.bands[band.index()].in_flight += 1;
        self.change(account, |found| found.in_flight += 1);
        let Some(found) = self.accounts.get_mut(&account) else { return };
        let weight = found.share.weight.get();
        let turn = &mut found.turns[band.index()];
        // If not, it was sent in the turn of a more urgent band.
        let has_turn = self.bands[band.index()].ring.front() == Some(&account);
        if turn.in_ring && has_turn {
            let credit = if turn.credit == 0 { weight } else { turn.credit };
            turn.credit = credit - 1;
            if turn.credit == 0 {
                self.bands[band.index()].ring.rotate_left(1);
            }
        }
        self.dismiss_if_full(account);
    }

    /// An attempt ended.
    pub(super) fn ended(&mut self, band: Priority, account: AccountId) {
        self.bands[band.index()].in_flight -= 1;
        self.change(account, |found| found.in_flight -= 1);
        self.forget_if_gone(account);
        self.admit(account);
    }

    /// Attempts of an account in flight.
    pub(super) fn in_flight(&self, account: AccountId) -> u32 {
        self.accounts.get(&account).map_or(0, |found| found.in_flight)
    }

    /// Since when no cap keeps an account from more slots; `None` while one does.
    pub(super) fn uncapped_since(&self, account: AccountId) -> Option<Timestamp> {
        let Some(found) = self.accounts.get(&account) else { return Some(Timestamp::ZERO) };
        (!found.capped).then_some(found.uncapped_since)
    }

    /// Accounts that are known.
    #[cfg(test)]
    pub(super) fn accounts(&self) -> usize {
        self.accounts.len()
    }

    /// Takes an account into the rings of the bands in which it has something to send, unless it is full.
    fn admit(&mut self, account: AccountId) {
        if self.is_full(account) {
            return;
        }
        self.capped = self.capped.filter(|capped| *capped != account);
        let Some(found) = self.accounts.get_mut(&account) else { return };
        if std::mem::take(&mut found.capped) {
            found.uncapped_since = self.now;
        }
        for (turn, band) in found.turns.iter_mut().zip(&mut self.bands) {
            if !turn.ring.is_empty() && !turn.in_ring {
                turn.in_ring = true;
                match turn.credit {
                    0 => band.ring.push_back(account),
                    // It was full in the middle of its turn.
                    _ => band.ring.push_front(account),
                }
            }
        }
    }

    /// Takes an account out of a band's ring. Its destinations keep their order for when it comes back.
    fn dismiss(&mut self, band: Priority, account: AccountId) {
        let Some(found) = self.accounts.get_mut(&account) else { return };
        let turn = &mut found.turns[band.index()];
        if !turn.in_ring {
            return;
        }
        turn.in_ring = false;
        let ring = &mut self.bands[band.index()].ring;
        // It had the turn, so it is at the front, or at the back when its turn just ended; rarely elsewhere.
        if ring.front() == Some(&account) {
            ring.pop_front();
        } else if ring.back() == Some(&account) {
            ring.pop_back();
        } else {
            ring.retain(|known| *known != account);
        }
    }

    /// Takes an account out of all rings if it has all that it may have in flight; whether it has.
    fn dismiss_if_full(&mut self, account: AccountId) -> bool {
        let full = self.is_full(account);
        if full {
            Priority::ALL.into_iter().for_each(|band| self.dismiss(band, account));
            if let Some(found) = self.accounts.get_mut(&account) {
                found.capped = found.in_flight < self.slots;
                if found.share.max_in_flight.is_none() {
                    self.capped = Some(account);
                }
            }
        }
        full
    }

    fn is_full(&self, account: AccountId) -> bool {
        let Some(found) = self.accounts.get(&account) else { return false };
        let among_others = || self.presence.has_others_than(account).then_some(self.cap_among_others);
        found.share.max_in_flight.or_else(among_others).is_some_and(|most| found.in_flight >= most)
    }
}

impl Account {
    fn is_busy(&self) -> bool {
        self.owed || self.in_flight > 0
    }

    /// Nothing hangs on it any more.
    fn is_spent(&self) -> bool {
        !self.is_busy() && self.turns.iter().all(|turn| turn.ring.is_empty() && !turn.in_ring)
    }
}
