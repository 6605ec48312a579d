//! What operators allow and receivers ask for, and whether what is sent keeps to it.

use super::circuit::CircuitModel;
use super::line_up::RANKS;
use super::pushback::PushbackModel;
use super::rate::Bucket;
use super::{Flight, Ledger, Stand};
use crate::breach::Breach;
use postrider_core::breaker::{Circuit, CircuitOrder, CircuitRecord};
use postrider_core::delivery::{OrderKey, Priority, Ticket};
use postrider_core::destination::Ordering;
use postrider_core::id::{AccountId, DeliveryId, DestinationId};
use postrider_core::scheduler::{SchedulerOptions, Settings, Share, Verdict};
use postrider_core::time::Timestamp;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Terms {
    pub(super) account: AccountId,
    pub(super) settings: Settings,
    pub(super) deleted: bool,
    pub(super) circuit: CircuitModel,
    rate: Option<Bucket>,
    /// The receiver asked to be left alone until then.
    throttled_until: Timestamp,
    pushback: PushbackModel,
    /// Requests of a run that died may go on until then.
    held_until: Timestamp,
    /// The last run died. What may only run once at a time counts requests of that run until they end.
    orphans_count: OrphansCount,
    /// It was never adaptive in this run.
    never_adaptive: bool,
    always_by_key: bool,
    /// So many ranks of its lanes may send: all, or fresh ones alone.
    pub(super) ranks_open: usize,
    /// By priority: since when something waits for nothing but its turn, and how many of others went meanwhile.
    pub(super) waits: [Option<Waits>; Priority::COUNT],
    /// By priority and rank of lane: how many of its other lanes went while something of this lane was due.
    pub(super) lanes_passed: [[usize; RANKS]; Priority::COUNT],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) since: Timestamp,
    pub(super) passed_over: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrphansCount {
    No,
    ForTheirKey,
    ForAll,
}

impl Terms {
    fn new(settings: Settings, now: Timestamp) -> Self {
        Terms {
            account: settings.account,
            settings,
            deleted: false,
            circuit: CircuitModel::default(),
            rate: settings.rate_limit.map(|limit| Bucket::full(limit, now)),
            throttled_until: Timestamp::ZERO,
            pushback: PushbackModel::default(),
            held_until: Timestamp::ZERO,
            orphans_count: OrphansCount::No,
            never_adaptive: !settings.adaptive,
            always_by_key: settings.ordering == Ordering::ByKey,
            ranks_open: RANKS,
            waits: Default::default(),
            lanes_passed: Default::default(),
        }
    }

    fn change(&mut self, settings: Settings, now: Timestamp) {
        self.settings = settings;
        self.never_adaptive &= !settings.adaptive;
        self.always_by_key &= settings.ordering == Ordering::ByKey;
        let changed =
            settings.rate_limit.filter(|limit| self.rate.as_ref().map(Bucket::limit) != Some(*limit));
        match (settings.rate_limit, changed) {
            (_, Some(limit)) => self.rate = Some(Bucket::changed(limit, now)),
            (None, None) => self.rate = None,
            (Some(_), None) => {}
        }
    }

    /// A new run begins: what is not on disk is forgotten.
    fn restart(&mut self, now: Timestamp, circuit: CircuitModel) {
        let orphans_count = match self.settings {
            Settings { ordering: Ordering::Strict, .. } => OrphansCount::ForAll,
            settings if settings.max_concurrency.get() == 1 => OrphansCount::ForAll,
            Settings { ordering: Ordering::ByKey, .. } => OrphansCount::ForTheirKey,
            _ => OrphansCount::No,
        };
        let (deleted, always_by_key) = (self.deleted, self.always_by_key);
        *self = Terms { deleted, always_by_key, circuit, orphans_count, ..Terms::new(self.settings, now) };
    }

    /// Attempts at once, at most.
    pub(super) fn max(&self) -> usize {
        match self.settings.ordering {
            Ordering::Strict => 1,
            Ordering::None | Ordering::ByKey => self.settings.max_concurrency.get() as usize,
        }
    }

    pub(super) fn sent(&mut self, now: Timestamp, sent: &Ticket) -> Result<(), Breach> {
        self.circuit.sent(now, sent)?;
        let within = self.rate.as_mut().is_none_or(|bucket| bucket.take(now));
        if within { Ok(()) } else { Err(Breach::OverRate(sent.line.destination)) }
    }

    pub(super) fn learn(&mut self, now: Timestamp, flight: &Flight, verdict: Verdict) -> bool {
        self.throttled_until = self.throttled_until.max(verdict.hold_until.unwrap_or_default());
        self.pushback.learn(now, flight.sent_at, verdict);
        self.circuit.learn(now, self.settings.circuit, flight.ticket.delivery, verdict.health)
    }

    /// Whether nothing that operators, receivers or limits say is in the way. The limit is the scheduler's own when it
    /// may set one.
    pub(super) fn lets_pass(&self, now: Timestamp, in_flight: usize, limit: usize) -> bool {
        let rate = self.rate.as_ref().is_none_or(|bucket| bucket.lets_pass(now));
        !self.deleted
            && !self.settings.paused
            && self.throttled_until <= now
            && self.pushback.until <= now
            && in_flight < limit
            && rate
            && self.circuit.lets_pass(now)
    }

    /// What the scheduler may have as its limit.
    pub(super) fn check_limit(&self, id: DestinationId, limit: usize) -> Result<(), Breach> {
        let fixed = self.never_adaptive && !self.circuit.recovered;
        let legal = if fixed { limit == self.max() } else { (1..=self.max()).contains(&limit) };
        if legal { Ok(()) } else { Err(Breach::WrongLimit { destination: id, limit }) }
    }
}

impl Ledger {
    /// An account exists or its share changed.
    pub(crate) fn shared(&mut self, account: AccountId, share: Share) {
        self.accounts.insert(account, share);
    }

    /// Other slots and floors count from now on. What is in flight keeps its slots.
    pub(crate) fn limited(&mut self, options: SchedulerOptions) {
        self.options = options;
    }

    /// An operator made or changed a destination.
    pub(crate) fn configured(&mut self, now: Timestamp, id: DestinationId, settings: Settings) {
        self.destinations
            .entry(id)
            .and_modify(|terms| terms.change(settings, now))
            .or_insert_with(|| Terms::new(settings, now));
    }

    /// An operator's word about a circuit.
    pub(crate) fn circuit_ordered(&mut self, id: DestinationId, order: CircuitOrder) {
        let Some(terms) = self.destinations.get_mut(&id) else { return };
        if order != CircuitOrder::Open {
            (terms.throttled_until, terms.pushback) = (Timestamp::ZERO, PushbackModel::default());
        }
        terms.circuit.order(order);
        self.moved.push(id);
    }

    /// The scheduler wants a circuit kept: it must have moved, and stand like this.
    pub(crate) fn check_keep(&mut self, id: DestinationId, record: CircuitRecord) -> Result<(), Breach> {
        let moved = self.moved.iter().position(|moved| *moved == id);
        if moved.is_none() && matches!(record.circuit, Circuit::Open { .. }) {
            let may_have = self.destinations.get_mut(&id).is_some_and(|terms| terms.circuit.has_opened());
            let is_it = self.destinations.get(&id).is_some_and(|terms| terms.circuit.record() == record);
            return if may_have && is_it { Ok(()) } else { Err(Breach::OpenedWhileTaking(id)) };
        }
        let expected = self.destinations.get(&id).map(|terms| terms.circuit.record());
        match moved {
            Some(index) if expected == Some(record) => {
                self.moved.remove(index);
                Ok(())
            }
            _ => Err(Breach::WrongCircuit { destination: id, record }),
        }
    }

    /// A circuit moved, and nobody will want it kept.
    pub(crate) fn forget_moves(&mut self) {
        self.moved.clear();
    }

    /// Whether an operator has to do something before anything is sent again.
    pub(crate) fn is_open_for_good(&self, id: DestinationId) -> bool {
        let for_good = Circuit::Open { until: Timestamp::MAX };
        self.destinations.get(&id).is_some_and(|terms| terms.circuit.record().circuit == for_good)
    }

    /// The store has it.
    pub(crate) fn kept(&mut self, id: DestinationId, record: CircuitRecord) {
        self.kept.insert(id, record);
    }

    /// The probe of a half-open circuit.
    pub(crate) fn probe(&self, id: DestinationId) -> Option<DeliveryId> {
        self.destinations.get(&id).and_then(|terms| terms.circuit.probe())
    }

    /// An operator deleted a destination: what it is owed is to become dead letters.
    pub(crate) fn deleted(&mut self, id: DestinationId) {
        if let Some(terms) = self.destinations.get_mut(&id) {
            terms.deleted = true;
        }
        self.kept.remove(&id);
        self.owed.remove(&id);
        for entry in self.entries.values_mut().filter(|entry| entry.ticket.line.destination == id) {
            if matches!(entry.stand, Stand::Owed | Stand::InFlight | Stand::Blocks) {
                entry.stand = Stand::Doomed;
            }
        }
    }

    /// A new run begins; these have to wait until then.
    pub(crate) fn started(&mut self, now: Timestamp, holds: &BTreeMap<DestinationId, Timestamp>) {
        self.stopping = false;
        self.forget_ended();
        for (id, terms) in &mut self.destinations {
            terms.restart(now, CircuitModel::restored(self.kept.get(id).copied().unwrap_or_default()));
            terms.held_until = holds.get(id).copied().unwrap_or_default();
        }
    }

    pub(super) fn is_deleted(&self, id: DestinationId) -> bool {
        self.destinations.get(&id).is_some_and(|terms| terms.deleted)
    }

    pub(super) fn always_by_key(&self, id: DestinationId) -> bool {
        self.destinations.get(&id).is_some_and(|terms| terms.always_by_key)
    }

    /// Whether one more may go out, to this destination and at all.
    pub(super) fn check_limits(&self, now: Timestamp, sent: &Ticket) -> Result<(), Breach> {
        let destination = sent.line.destination;
        let terms = self.destinations.get(&destination).ok_or(Breach::Phantom(sent.delivery))?;
        if self.stopping {
            return Err(Breach::SentWhileStopping(sent.delivery));
        }
        if terms.deleted {
            return Err(Breach::SentToDeleted(destination));
        }
        if terms.settings.paused {
            return Err(Breach::SentToPaused(destination));
        }
        if now < terms.held_until {
            return Err(Breach::SentWhileHeld { destination, until: terms.held_until });
        }
        if now < terms.throttled_until {
            return Err(Breach::SentBeforeRetryAfter { destination, until: terms.throttled_until });
        }
        if now < terms.pushback.until {
            return Err(Breach::SentWhileOverwhelmed { destination, until: terms.pushback.until });
        }
        if self.in_flight.len() >= self.options.slots as usize {
            return Err(Breach::OverSlots);
        }
        if self.is_full(terms.account, now, sent) {
            return Err(Breach::OverAccountCap(terms.account));
        }
        let max = terms.max();
        if self.slots_used(destination) >= max || self.at_receiver(destination, terms) >= max {
            return Err(Breach::OverConcurrency { destination, max });
        }
        let orphans_of_key = terms.orphans_count != OrphansCount::No && self.has_orphan(sent);
        if orphans_of_key { Err(Breach::KeyTwiceAtOnce(sent.delivery)) } else { Ok(()) }
    }

    fn has_orphan(&self, sent: &Ticket) -> bool {
        let own = |(to, key): &(DestinationId, Option<OrderKey>)| {
            *to == sent.line.destination && key.is_some() && *key == sent.order_key()
        };
        self.orphans.values().any(own)
    }

    /// Slots that a destination's attempts hold.
    pub(super) fn slots_used(&self, id: DestinationId) -> usize {
        self.in_flight.values().filter(|flight| flight.ticket.line.destination == id).count()
    }

    /// Requests that a receiver works on. Those of dead runs count where at most one may run at a time; other
    /// destinations go on at once after a crash, which is the stated exception to their limit.
    fn at_receiver(&self, id: DestinationId, terms: &Terms) -> usize {
        let own = self.in_flight.values().filter(|flight| flight.ticket.line.destination == id);
        let running = own.filter(|flight| flight.answered.is_none());
        let for_all = terms.orphans_count == OrphansCount::ForAll;
        let orphans = self.orphans.values().filter(|(to, _)| for_all && *to == id);
        running.count() + orphans.count()
    }
}
