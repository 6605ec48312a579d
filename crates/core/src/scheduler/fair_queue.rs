//! Whose turn it is: bands by priority with reserved floors, in a band the accounts by weight, in an account its
//! destinations in turn.
//!
//! An account's turns are fair queueing: each send moves it on by a step that is the smaller the more it weighs, and
//! the one that is furthest behind goes next.
//!
//! Only those that may send stand here. Who turns out not to be able to when its turn comes is left out, and comes
//! back when something has changed. So a turn costs the same whatever is configured and whatever waits.

use super::bands::BandTurns;
use super::floors::{FLOORS_FROM_SLOTS, Floors};
use super::presence::Presence;
use super::{SchedulerOptions, Share};
use crate::delivery::Priority;
use crate::id::{AccountId, DestinationId};
use crate::limits::WEIGHT_MAX;
use crate::map::IdMap;
use crate::time::Timestamp;
use std::collections::{BTreeSet, VecDeque};

/// How far an account of weight 1 moves behind the others by one send. Divided by the weight, which is 1000 at most,
/// it stays exact to a thousandth; it takes years of sends to fill 64 bits.
const STEP: u64 = 1 << 20;
/// An account whose cap took turns from it makes up for so many sends. With few slots the cap is close to the share of
/// an account of thrice the weight: with 16 sends it gets 2.86 for each of the other's, with 64 it gets 2.9 and more.
const MADE_UP_FOR_MAX: u64 = 64;
const _: () = assert!(STEP / WEIGHT_MAX as u64 >= 1000, "weights stay exact to a thousandth");

#[derive(Debug)]
pub(super) struct FairQueue {
    slots: u32,
    floors: Floors,
    /// What an account without a cap of its own may have in flight while there are others.
    cap_among_others: u32,
    /// With few slots: who of the less urgent has the next turn.
    turns: BandTurns,
    bands: [Band; Priority::COUNT],
    accounts: IdMap<AccountId, Account>,
    /// Those that count as others.
    presence: Presence,
    /// Accounts that have all that they may have beside others.
    capped: BTreeSet<AccountId>,
    now: Timestamp,
}

#[derive(Debug, Default)]
struct Band {
    /// Accounts with something to send, by their places: the least has the turn.
    accounts: BTreeSet<(u64, AccountId)>,
    /// The place that had the last turn. Who had nothing to send begins here.
    place: u64,
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

/// What keeps an account from more slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cap {
    /// Its own, which always holds.
    Own,
    /// It leaves the rest to the others. What its floor keeps for a band is the exception, while no other can use it.
    AmongOthers,
}

/// An account's destinations in one band.
#[derive(Debug, Default)]
struct Turn {
    ring: VecDeque<DestinationId>,
    /// Moves on with each send, the further the less the account weighs.
    place: u64,
    /// It had something to send when it was last looked at.
    keeps_place: bool,
    /// It is among the band's accounts.
    is_queued: bool,
}

impl FairQueue {
    pub(super) fn new(SchedulerOptions { slots, floors, .. }: SchedulerOptions) -> Self {
        FairQueue {
            slots,
            floors,
            cap_among_others: floors.account_cap(slots),
            turns: BandTurns::default(),
            bands: Default::default(),
            accounts: IdMap::default(),
            presence: Presence::default(),
            capped: BTreeSet::new(),
            now: Timestamp::ZERO,
        }
    }

    /// Goes on with other slots and floors, and what follows from them for accounts.
    pub(super) fn limit(&mut self, SchedulerOptions { slots, floors, .. }: SchedulerOptions) {
        (self.slots, self.floors, self.cap_among_others) = (slots, floors, floors.account_cap(slots));
        let all: Vec<AccountId> = self.accounts.keys().copied().collect();
        all.into_iter().for_each(|account| self.admit(account));
    }

    /// Time passes: who was alone for long enough may have all slots.
    pub(super) fn pass(&mut self, now: Timestamp) {
        self.now = now;
        self.presence.pass(now);
        let capped: Vec<AccountId> = self.capped.iter().copied().collect();
        capped.into_iter().for_each(|account| self.admit(account));
    }

    /// When time alone opens slots to somebody.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        if self.capped.is_empty() { None } else { self.presence.next_to_go() }
    }

    /// An account exists or its share changed.
    pub(super) fn share(&mut self, account: AccountId, share: Share) {
        let found = self.accounts.entry(account).or_default();
        (found.share, found.gone) = (share, false);
        self.admit(account);
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
            self.capped.remove(&account);
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
        let turn = &mut self.accounts.entry(account).or_default().turns[band.index()];
        if !std::mem::replace(&mut turn.keeps_place, true) {
            // Nobody saves turns up by having nothing to send.
            turn.place = turn.place.max(self.bands[band.index()].place);
        }
        turn.ring.push_back(destination);
        self.admit(account);
    }

    /// Whose turn it is. The destination leaves the queue; [`FairQueue::push`] puts it back.
    pub(super) fn pop(&mut self) -> Option<(Priority, DestinationId)> {
        while let Some(band) = self.next_band() {
            let (place, account) = self.bands[band.index()].accounts.first().copied()?;
            // It may have been alone when it had its last turn.
            if self.dismiss_if_full(account) {
                continue;
            }
            let turn = &mut self.accounts.get_mut(&account)?.turns[band.index()];
            match turn.ring.pop_front() {
                Some(destination) => {
                    let passed = &mut self.bands[band.index()].place;
                    *passed = place.max(*passed);
                    return Some((band, destination));
                }
                // It stays until now, so that one with a single destination keeps its place.
                None => {
                    turn.keeps_place = false;
                    self.dismiss(band, account);
                }
            }
        }
        self.pop_capped()
    }

    /// Whose turn it is in a slot that is kept for a band and that nobody below a cap can use now: an account that leaves
    /// the others theirs need not leave them this one, which would stay unused.
    fn pop_capped(&mut self) -> Option<(Priority, DestinationId)> {
        let is_kept = |band: &Priority| self.is_under_floor(*band) && self.open_slots(*band) > 0;
        let waits = |account: &AccountId, band: Priority| {
            let turn = &self.accounts.get(account)?.turns[band.index()];
            (!turn.ring.is_empty() && !self.keeps_out(*account, band)).then_some((turn.place, *account))
        };
        let mut kept = Priority::ALL.into_iter().filter(is_kept);
        let (band, account) = kept.find_map(|band| {
            let (_, account) = self.capped.iter().filter_map(|account| waits(account, band)).min()?;
            Some((band, account))
        })?;
        let destination = self.accounts.get_mut(&account)?.turns[band.index()].ring.pop_front()?;
        Some((band, destination))
    }

    /// A band under its floor, the most urgent first; else the most urgent that has a slot open to it, and with few
    /// slots now and then a less urgent one.
    fn next_band(&self) -> Option<Priority> {
        let may_go = |band: &Priority| self.waits(*band) && self.open_slots(*band) > 0;
        let mut waiting = Priority::ALL.into_iter().filter(may_go);
        if let Some(band) = waiting.clone().find(|band| self.is_under_floor(*band)) {
            return Some(band);
        }
        let band = waiting.next()?;
        if self.slots >= FLOORS_FROM_SLOTS {
            return Some(band);
        }
        Some(self.turns.choose(band, |less| may_go(&less)))
    }

    fn waits(&self, band: Priority) -> bool {
        !self.bands[band.index()].accounts.is_empty()
    }

    fn is_under_floor(&self, band: Priority) -> bool {
        self.bands[band.index()].in_flight < self.floors.of(band)
    }

    /// Slots that a band may have now.
    pub(super) fn open_slots(&self, band: Priority) -> u32 {
        let in_flight = Priority::ALL.map(|band| self.bands[band.index()].in_flight);
        let free = self.slots.saturating_sub(in_flight.iter().sum());
        self.floors.open(band, free, in_flight)
    }

    /// Whether an account's slot of a band may go to a less urgent one of it: another is left for whoever else of the
    /// band waits.
    pub(super) fn may_give(&self, account: AccountId, band: Priority, less: Priority) -> bool {
        self.open_slots(band) > 1 && self.open_slots(less) > 0 && !self.keeps_out(account, less)
    }

    /// What [`FairQueue::pop`] gave was sent.
    pub(super) fn sent(&mut self, band: Priority, account: AccountId) {
        self.turns.sent(band, Priority::ALL.map(|band| self.waits(band)));
        self.bands[band.index()].in_flight += 1;
        self.change(account, |found| found.in_flight += 1);
        let Some(found) = self.accounts.get_mut(&account) else { return };
        let (turn, band) = (&mut found.turns[band.index()], &mut self.bands[band.index()]);
        let before = turn.place;
        turn.place = before + STEP / u64::from(found.share.weight.get());
        if turn.is_queued {
            band.accounts.remove(&(before, account));
            band.accounts.insert((turn.place, account));
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

    /// Queues an account in the bands in which it has something to send, unless it is full. One that was full keeps its
    /// place, so that it makes up for turns that its cap took from it: for a bounded number of sends, since it may
    /// have been full for long.
    fn admit(&mut self, account: AccountId) {
        if self.dismiss_if_full(account) {
            return;
        }
        self.capped.remove(&account);
        let Some(found) = self.accounts.get_mut(&account) else { return };
        if std::mem::take(&mut found.capped) {
            found.uncapped_since = self.now;
        }
        let made_up_for = STEP / u64::from(found.share.weight.get()) * MADE_UP_FOR_MAX;
        for (turn, band) in found.turns.iter_mut().zip(&mut self.bands) {
            if !turn.ring.is_empty() && !turn.is_queued {
                turn.is_queued = true;
                turn.place = turn.place.max(band.place.saturating_sub(made_up_for));
                band.accounts.insert((turn.place, account));
            }
        }
    }

    /// Takes an account out of a band. Its destinations keep their order for when it comes back.
    fn dismiss(&mut self, band: Priority, account: AccountId) {
        let Some(found) = self.accounts.get_mut(&account) else { return };
        let turn = &mut found.turns[band.index()];
        if std::mem::take(&mut turn.is_queued) {
            self.bands[band.index()].accounts.remove(&(turn.place, account));
        }
    }

    /// Takes an account out of all bands if it has all that it may have in flight; whether it has.
    fn dismiss_if_full(&mut self, account: AccountId) -> bool {
        let Some(cap) = self.cap_reached(account) else { return false };
        Priority::ALL.into_iter().for_each(|band| self.dismiss(band, account));
        if let Some(found) = self.accounts.get_mut(&account) {
            found.capped = found.in_flight < self.slots;
        }
        match cap {
            Cap::Own => self.capped.remove(&account),
            Cap::AmongOthers => self.capped.insert(account),
        };
        true
    }

    /// Whether a cap keeps an account out of the slots of a band.
    fn keeps_out(&self, account: AccountId, band: Priority) -> bool {
        match self.cap_reached(account) {
            None => false,
            Some(Cap::Own) => true,
            Some(Cap::AmongOthers) => !self.is_under_floor(band),
        }
    }

    fn cap_reached(&self, account: AccountId) -> Option<Cap> {
        let found = self.accounts.get(&account)?;
        let (cap, most) = match found.share.max_in_flight {
            Some(own) => (Cap::Own, own),
            None if self.presence.has_others_than(account) => (Cap::AmongOthers, self.cap_among_others),
            None => return None,
        };
        (found.in_flight >= most).then_some(cap)
    }
}

impl Account {
    fn is_busy(&self) -> bool {
        self.owed || self.in_flight > 0
    }

    /// Nothing hangs on it any more.
    fn is_spent(&self) -> bool {
        !self.is_busy() && self.turns.iter().all(|turn| turn.ring.is_empty())
    }
}
