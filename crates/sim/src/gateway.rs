//! The gateway as an engine would be: it does what the scheduler says and tells it what came of it.

use crate::breach::Breach;
use crate::options::Bug;
use crate::recorder::Recorded;
use crate::world::{Happening, World, block_on};
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::delivery::{Lane, Line, Priority, Ticket};
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId, IdGenerator};
use postrider_core::retry::RetryPolicy;
use postrider_core::scheduler::{Action, Input, Scheduler, Why};
use postrider_core::time::Timestamp;
use postrider_store::{Account, Destination, EventContent, NewEvent, Route, Store};
use std::collections::BTreeMap;
use std::time::Duration;

/// A page that failed is asked for again after this; until then its destination may be late.
const PAGE_RETRY: Duration = Duration::from_secs(1);

/// One life of the gateway: all that a crash loses.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) scheduler: Scheduler,
    pub(crate) ids: IdGenerator,
    pub(crate) accounts: Vec<Account>,
    pub(crate) destinations: BTreeMap<DestinationId, Destination>,
    pub(crate) routes: Vec<Route>,
    /// Until when a destination is held after an unclean stop.
    pub(crate) holds: BTreeMap<DestinationId, Timestamp>,
    /// Events that wait for a commit.
    pub(crate) events: Vec<NewEvent>,
    /// Attempts that wait for a commit.
    pub(crate) outcomes: Vec<Recorded>,
    pub(crate) commit_planned: bool,
    pub(crate) sending: BTreeMap<DeliveryId, Sending>,
    /// News on their way to the scheduler, and pages on their way to it, by destination.
    pub(crate) on_the_way: BTreeMap<DestinationId, u32>,
    pub(crate) page_failed_at: BTreeMap<DestinationId, Timestamp>,
    /// News of commits arrive in order.
    pub(crate) heard_until: Timestamp,
    /// Circuits on their way to the store, which gets them in order.
    pub(crate) keeping: u32,
    pub(crate) kept_until: Timestamp,
    pub(crate) stopping: bool,
}

/// An attempt in flight.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) account: AccountId,
    pub(crate) ticket: Ticket,
    pub(crate) attempt: AttemptId,
    pub(crate) started_at: Timestamp,
    pub(crate) accepted_at: Timestamp,
    pub(crate) policy: RetryPolicy,
}

impl Gateway {
    /// How many at once the scheduler allows a destination; `None` while that one waits for something that the
    /// scheduler cannot hasten.
    pub(crate) fn limit(&self, id: DestinationId, now: Timestamp) -> Option<usize> {
        if self.waits_for_others(id, now) {
            return None;
        }
        self.scheduler.view(id, now).map(|view| view.limit as usize)
    }

    fn waits_for_others(&self, id: DestinationId, now: Timestamp) -> bool {
        let on_the_way = self.on_the_way.get(&id).is_some_and(|count| *count > 0);
        let held = self.holds.get(&id).is_some_and(|until| now < *until);
        let failed = self.page_failed_at.get(&id).is_some_and(|at| now <= at.after(PAGE_RETRY));
        on_the_way || held || failed
    }

    pub(crate) fn depart(&mut self, id: DestinationId) {
        *self.on_the_way.entry(id).or_default() += 1;
    }

    pub(crate) fn arrive(&mut self, id: DestinationId) {
        let count = self.on_the_way.entry(id).or_default();
        *count = count.checked_sub(1).expect("what arrives was on the way");
    }

    /// The route's own policy stands above the destination's.
    fn policy(&self, ticket: &Ticket) -> RetryPolicy {
        let route = self.routes.iter().find(|route| route.id == ticket.route);
        let of_route = route.and_then(|route| route.retry_policy.clone());
        let destination = self.destinations.get(&ticket.line.destination);
        of_route.or_else(|| destination.and_then(|to| to.retry_policy.clone())).unwrap_or_default()
    }
}

impl World {
    /// Gives the scheduler an input and does what it says.
    pub(crate) fn hear(&mut self, input: Input) -> Result<(), Breach> {
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        let mut actions = Vec::new();
        gateway.scheduler.step(self.now, input, &mut actions);
        let waiting = gateway.scheduler.waiting();
        self.report.steps += 1;
        self.report.owed_max = self.report.owed_max.max(self.ledger.owed());
        self.report.in_flight_max = self.report.in_flight_max.max(gateway.scheduler.in_flight().len());
        if waiting > self.report.waiting_max {
            self.report.waiting_max = waiting;
            self.ledger.check_memory(waiting)?;
        }
        for action in actions {
            self.perform(action)?;
        }
        self.spoil_late_share()?;
        let Some(gateway) = &self.gateway else { return Ok(()) };
        self.ledger.check_turns(self.now, |id| gateway.limit(id, self.now))
    }

    /// The store gets to know of a circuit some time later.
    fn keep_later(&mut self, id: DestinationId, record: CircuitRecord) -> Result<(), Breach> {
        self.note(|| format!("keep {id} {record:?}"));
        self.ledger.check_keep(id, record)?;
        self.report.opened += u64::from(record.circuit != Circuit::Closed);
        let lag = self.random.moment();
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        gateway.keeping += 1;
        gateway.kept_until = gateway.kept_until.max(self.now.after(lag));
        self.agenda.plan(gateway.kept_until, Happening::Keep(self.life, id, record));
        Ok(())
    }

    pub(crate) fn keep(&mut self, id: DestinationId, record: CircuitRecord) {
        let Some(gateway) = &mut self.gateway else { return };
        gateway.keeping -= 1;
        if !gateway.destinations.contains_key(&id) {
            return;
        }
        self.ledger.kept(id, record);
        if !self.strikes(Bug::CircuitUnkept) {
            block_on(self.store.keep_circuits(vec![(id, record)])).expect("the store in memory can keep it");
        }
    }

    /// A second probe is let through behind everyone's back.
    fn spoil_probe(&mut self, id: DestinationId) -> Result<(), Breach> {
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        let mut actions = Vec::new();
        let half_open = CircuitRecord { circuit: Circuit::HalfOpen, trips: 1 };
        gateway.scheduler.step(self.now, Input::Restore(id, half_open), &mut actions);
        actions
            .into_iter()
            .filter(|action| !matches!(action, Action::Keep(..)))
            .try_for_each(|action| self.perform(action))
    }

    /// A retry goes out although the scheduler keeps what is left of its destination's concurrency for fresh events.
    fn spoil_late_share(&mut self) -> Result<(), Breach> {
        let Some(gateway) = self.gateway.as_ref().filter(|_| self.has(Bug::LateShareTaken)) else {
            return Ok(());
        };
        let kept = |id: &&DestinationId| {
            let view = gateway.scheduler.view(**id, self.now);
            let kept = view.is_some_and(|view| view.why == Why::Full && view.in_flight < view.limit);
            kept && gateway.limit(**id, self.now).is_some()
        };
        let Some(id) = gateway.destinations.keys().find(kept).copied() else { return Ok(()) };
        let lines = Priority::ALL.map(|priority| Line { destination: id, priority, lane: Lane::Retry });
        let rows = lines.into_iter().filter_map(|line| block_on(self.store.load(line, usize::MAX)).ok());
        let idle = |row: &Ticket| gateway.scheduler.in_flight().all(|ticket| ticket.delivery != row.delivery);
        let late = rows.flat_map(|page| page.tickets).find(|row| row.due <= self.now && idle(row));
        late.map_or(Ok(()), |late| self.send(late))
    }

    fn perform(&mut self, action: Action) -> Result<(), Breach> {
        match action {
            Action::Send(ticket) => return self.send(ticket),
            Action::Keep(destination, record) => return self.keep_later(destination, record),
            Action::Load { line, limit } => self.ask_for_page(line, limit),
            Action::LoadKeys { destination, after, limit } => self.ask_for_keys(destination, after, limit),
        }
        Ok(())
    }

    fn send(&mut self, ticket: Ticket) -> Result<(), Breach> {
        let content = block_on(self.store.content(ticket.event)).ok().flatten();
        let content: EventContent = content.ok_or(Breach::WrongContent(ticket.delivery))?;
        if content.body != ticket.event.as_u64().to_be_bytes()[..] {
            return Err(Breach::WrongContent(ticket.delivery));
        }
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        let attempt = AttemptId::from_u64(gateway.ids.next(self.now));
        self.trace.note(self.now, || format!("send {ticket:?}"));
        self.ledger.sent(self.now, &ticket, attempt)?;
        self.report.sent += 1;
        let destination = ticket.line.destination;
        let timeout = gateway.destinations[&destination].timeout.duration();
        let policy = gateway.policy(&ticket);
        let (account, started_at, accepted_at) = (content.account, self.now, content.received_at);
        let sending = Sending { account, ticket, attempt, started_at, accepted_at, policy };
        gateway.sending.insert(ticket.delivery, sending);
        let answer = self.receivers[&destination].answer(timeout, &mut self.random);
        let (life, delivery) = (self.life, ticket.delivery);
        self.plan(answer.after, Happening::Answer { life, delivery, attempt, answer });
        if self.ledger.probe(destination) == Some(delivery) && self.strikes(Bug::SecondProbe) {
            return self.spoil_probe(destination);
        }
        Ok(())
    }
}
