//! Whose turn it was: bands under their floor first, else the most urgent; and nobody is passed over for long.

use super::Ledger;
use super::line_up::rank;
use super::terms::Waits;
use crate::breach::Breach;
use postrider_core::delivery::{Priority, Ticket};
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;

/// One of eight, and as much again for what the checker cannot see.
const LANE_PASSED_MAX: usize = 16;
/// With fewer slots the less urgent have turns in place of floors: each has one of sixteen sends, and what it missed of
/// them for want of an open slot it makes up for, up to one more.
const FLOORS_FROM_SLOTS: u32 = 8;
const PASSED_BEFORE_TURN: usize = 15;
const PASSED_MAX: usize = 2 * PASSED_BEFORE_TURN + 1;
/// Those that have such turns.
const LESS_URGENT: usize = Priority::COUNT - 1;
/// Sends that an account makes up for when its cap took turns from it.
const MADE_UP_FOR_MAX: usize = 64;

/// A destination that has something to send at a priority.
struct Waiting {
    id: DestinationId,
    priority: Priority,
    /// It waited long enough to stand in this band, or in a more urgent one.
    band_at_least: Priority,
    /// It did not wait long enough to stand in another band than its priority's.
    young: bool,
}

impl Ledger {
    /// After a step: whether what was sent in it had its turn. `limit` is how many at once the scheduler allows a
    /// destination; `None` while that one waits for something outside of the scheduler.
    pub(crate) fn check_turns(
        &mut self,
        now: Timestamp,
        limit: impl Fn(DestinationId) -> Option<usize>,
    ) -> Result<(), Breach> {
        self.note_owed(now);
        let sent = std::mem::take(&mut self.sent_now);
        if let Some(moved) = self.moved.first() {
            return Err(Breach::NotKept(*moved));
        }
        for ticket in &sent {
            let to = ticket.line.destination;
            let limit = limit(to);
            if let Some(max) = limit.filter(|max| self.slots_used(to) > *max) {
                return Err(Breach::OverConcurrency { destination: to, max });
            }
            if let Some(max) = limit {
                self.check_late(ticket, max)?;
            }
            if let Some(terms) = self.destinations.get_mut(&to) {
                terms.waits[ticket.priority.index()] = None;
            }
            // Of a line whose page is on its way the scheduler may know nothing, and what waited long enough to be
            // raised has its turns in another band.
            match limit {
                Some(max) if self.is_young(ticket.due, now) => self.count_lanes(now, ticket, max)?,
                _ => self.forgive_lanes(to),
            }
        }
        let turns = self.note_turns(&sent, now);
        // What waited long enough to be raised may stand in any band.
        let young = |(ticket, _): &(&Ticket, bool)| self.is_young(ticket.due, now);
        let (sent, turns): (Vec<&Ticket>, Vec<bool>) = sent.iter().zip(turns).filter(young).unzip();
        if !sent.is_empty() {
            self.note_waiting(now, limit)?;
        }
        if sent.is_empty() {
            return Ok(());
        }
        for waiting in self.who_waits(now) {
            self.check_bands(&waiting, &sent, &turns)?;
            self.count_passing(&waiting, &sent)?;
        }
        Ok(())
    }

    /// Those in whose way is nothing but that it was not their turn.
    fn who_waits(&self, now: Timestamp) -> Vec<Waiting> {
        let bands = |id: DestinationId| Priority::ALL.into_iter().map(move |band| (id, band));
        let waits = |(id, priority): (DestinationId, Priority)| {
            let terms = &self.destinations[&id];
            let (due, _) = self.owed.get(&id)?.first_due(priority, now, terms.ranks_open)?;
            let turn = |_: &Waits| !self.may_be_full(terms.account, now, (priority, due));
            let since = terms.waits[priority.index()].filter(turn)?.since;
            let waited = now.since(since.max(due)).as_millis();
            let raised = self.options.promotion_age.map_or(0, |age| waited / age.as_millis());
            let band_at_least = priority.raised(u64::try_from(raised).unwrap_or(u64::MAX));
            Some(Waiting { id, priority, band_at_least, young: self.is_young(due, now) })
        };
        self.destinations.keys().copied().flat_map(bands).filter_map(waits).collect()
    }

    pub(super) fn is_young(&self, due: Timestamp, now: Timestamp) -> bool {
        self.options.promotion_age.is_none_or(|age| now.since(due) < age)
    }

    /// Whether each was sent in a turn that the less urgent have where slots are few. What may have been raised uses
    /// up a turn of its priority or of another: it is not known which.
    fn note_turns(&mut self, sent: &[Ticket], now: Timestamp) -> Vec<bool> {
        let few = self.options.slots < FLOORS_FROM_SLOTS;
        let mut had = Vec::new();
        for ticket in sent {
            let own = ticket.priority.index();
            had.push(few && self.has_turn(own));
            let before = self.passed[own];
            self.passed.iter_mut().for_each(|passed| *passed = (*passed + 1).min(PASSED_MAX));
            if self.is_young(ticket.due, now) {
                self.passed[own] = before.saturating_sub(PASSED_BEFORE_TURN);
            }
        }
        had
    }

    /// Whether a priority may have one of these turns: so many were sent since its last, or so few are left that all
    /// whose turns come next need each of them.
    fn has_turn(&self, priority: usize) -> bool {
        let mut passed = self.passed;
        passed[1..].sort_unstable_by(|one, other| other.cmp(one));
        let mut ranked = passed[1..].iter().enumerate();
        let is_time = ranked.any(|(ahead, passed)| passed + ahead >= PASSED_BEFORE_TURN);
        is_time && self.passed[priority] + LESS_URGENT > PASSED_BEFORE_TURN
    }

    fn check_bands(&self, waits: &Waiting, sent: &[&Ticket], turns: &[bool]) -> Result<(), Breach> {
        let (waiting, band) = (waits.id, waits.band_at_least);
        let floor = self.options.floors.of(waits.priority) as usize;
        let under_floor = waits.young && self.possibly_in(waits.priority) < floor;
        for (ticket, had_turn) in sent.iter().zip(turns) {
            let over_floor =
                self.surely_in(ticket.priority) > self.options.floors.of(ticket.priority) as usize;
            let sent = ticket.delivery;
            if over_floor && under_floor {
                return Err(Breach::FloorIgnored { waiting, band, sent });
            }
            // Of its own turns a destination leaves some to its less urgent.
            let own = ticket.line.destination == waiting;
            if over_floor && band < ticket.priority && !had_turn && !own {
                return Err(Breach::LessUrgentFirst { waiting, band, sent });
            }
        }
        Ok(())
    }

    /// Counts what went in the same band meanwhile: what the weights make of a round for each destination of its
    /// account, one more for what the checker cannot see, and what other accounts make up for.
    fn count_passing(&mut self, waits: &Waiting, sent: &[&Ticket]) -> Result<(), Breach> {
        let (id, band) = (waits.id, waits.priority);
        // Nobody is passed over by what goes to itself.
        let passes = |ticket: &&&Ticket| ticket.priority == band && ticket.line.destination != id;
        let others = sent.iter().filter(passes).count();
        let account = self.destinations[&id].account;
        let of_account = self.destinations.values().filter(|terms| terms.account == account).count();
        let weights: u32 = self.accounts.values().map(|share| share.weight.get()).sum();
        let bound = weights as usize * (of_account + 1) + MADE_UP_FOR_MAX * (self.accounts.len() - 1);
        let Some(terms) = self.destinations.get_mut(&id) else { return Ok(()) };
        let Some(waits) = &mut terms.waits[band.index()] else { return Ok(()) };
        waits.passed_over += others;
        if waits.passed_over > bound {
            return Err(Breach::PassedOver { waiting: id, band, times: waits.passed_over });
        }
        Ok(())
    }

    fn forgive_lanes(&mut self, id: DestinationId) {
        if let Some(terms) = self.destinations.get_mut(&id) {
            terms.lanes_passed = Default::default();
        }
    }

    /// Of a destination's turns each lane has its share: at least one of eight, and a retry goes before a replay. What
    /// has all of the concurrency that it may have is not passed over.
    fn count_lanes(&mut self, now: Timestamp, sent: &Ticket, limit: usize) -> Result<(), Breach> {
        let (id, band) = (sent.line.destination, sent.priority);
        let firsts = self.owed.get(&id).map(|owed| owed.firsts_due(band, now)).unwrap_or_default();
        let open = self.ranks_open(id, limit);
        let due = firsts.map(|first| first.is_some_and(|(due, _)| self.is_young(due, now)));
        let Some(terms) = self.destinations.get_mut(&id) else { return Ok(()) };
        for (lane, passed) in terms.lanes_passed[band.index()].iter_mut().enumerate() {
            *passed = if due[lane] && lane < open && lane != rank(sent) { *passed + 1 } else { 0 };
            if *passed > LANE_PASSED_MAX {
                return Err(Breach::LaneStarves { destination: id, band, times: *passed });
            }
        }
        Ok(())
    }
}
