//! One gateway, receivers that behave in a fixed way, and a backlog for each: what its limits make of them.
//!
//! The worlds of [`crate::run`] check what must never happen. A scenario measures how well something is done: how many
//! deliveries a receiver gets in some minutes, and how many at once.

mod down;
mod failing;
mod overload;
mod receivers;

use crate::agenda::Agenda;
use crate::random::Random;
use postrider_core::delivery::{Line, OrderKey, Priority, Ticket};
use postrider_core::destination::{CircuitPolicy, MaxConcurrency, Ordering};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::outcome::{Finding, Health, Next, next};
use postrider_core::retry::{Chance, Jitter, RetryPolicy, Schedule};
use postrider_core::scheduler::{
    Action, After, DestinationView, Input, Scheduler, SchedulerOptions, Settings, Verdict,
};
use postrider_core::time::Timestamp;
use receivers::{Answer, Receiver};
use std::collections::BTreeMap;
use std::time::Duration;

const ACCOUNT: AccountId = AccountId::from_u64(1);
const START: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);
const MINUTE: Duration = Duration::from_secs(60);

/// The defaults, but for the concurrency.
fn settings(max_concurrency: u64) -> Settings {
    Settings {
        account: ACCOUNT,
        max_concurrency: MaxConcurrency::new(max_concurrency).unwrap(),
        adaptive: true,
        rate_limit: None,
        ordering: Ordering::None,
        circuit: CircuitPolicy::default(),
        paused: false,
        target: 0,
        hold_until: Timestamp::ZERO,
    }
}

/// 1 s doubling up to 5 min, full jitter: the schedule of waford.
fn doubling_retries(attempts: u64) -> RetryPolicy {
    let (base, cap) = (Duration::from_secs(1), Duration::from_secs(300));
    let schedule = Schedule::Exponential { base, factor: 2.0, cap };
    RetryPolicy::new(schedule, Some(attempts), None, Jitter::Full).unwrap()
}

/// What came of a destination's deliveries.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    delivered: u64,
    dead: u64,
    attempts: u64,
    /// Requests in flight at the receiver, summed over milliseconds.
    in_flight_ms: u64,
}

struct Site {
    receiver: Receiver,
    policy: RetryPolicy,
    /// How many are kept owed, whatever is delivered.
    refill: bool,
    is_strict: bool,
    in_flight: u64,
    tally: Tally,
}

struct Scenario {
    now: Timestamp,
    scheduler: Scheduler,
    random: Random,
    agenda: Agenda<(Ticket, Timestamp, Answer)>,
    sites: BTreeMap<DestinationId, Site>,
    /// The store: what is owed, in the order of each line.
    rows: BTreeMap<(Line, Timestamp, DeliveryId), Ticket>,
    last_id: u64,
}

impl Scenario {
    fn new(seed: u64) -> Self {
        Scenario {
            now: START,
            scheduler: Scheduler::new(SchedulerOptions::of_slots(512)),
            random: Random::new(seed),
            agenda: Agenda::new(),
            sites: BTreeMap::new(),
            rows: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// Adds a destination with so many deliveries that are owed to it.
    fn site(
        &mut self,
        settings: Settings,
        policy: RetryPolicy,
        receiver: Receiver,
        owed: u64,
    ) -> DestinationId {
        let id = DestinationId::from_u64(1 + self.sites.len() as u64);
        let is_strict = settings.ordering == Ordering::Strict;
        let site = Site { receiver, policy, refill: false, is_strict, in_flight: 0, tally: Tally::default() };
        self.sites.insert(id, site);
        self.step(Input::Configure(id, settings));
        (0..owed).for_each(|_| self.owe(id));
        id
    }

    /// The same with a backlog that never ends.
    fn busy_site(&mut self, settings: Settings, receiver: Receiver) -> DestinationId {
        let backlog = 2 * u64::from(settings.max_concurrency.get());
        let id = self.site(settings, RetryPolicy::default(), receiver, backlog);
        self.sites.get_mut(&id).expect("it was just made").refill = true;
        id
    }

    fn owe(&mut self, destination: DestinationId) {
        self.last_id += 1;
        let is_strict = self.sites[&destination].is_strict;
        let key = is_strict.then_some(OrderKey::WHOLE);
        let line = Line::first(destination, Priority::Normal, key);
        let ticket = Ticket {
            delivery: DeliveryId::from_u64(self.last_id),
            event: EventId::from_u64(self.last_id),
            route: RouteId::from_u64(1),
            line,
            priority: line.priority,
            due: self.now,
            attempts: 0,
            bytes: 100,
        };
        self.put(ticket);
        self.step(Input::Owed(ticket));
    }

    /// Goes on for so long, or until nothing is left to do.
    fn pass(&mut self, time: Duration) {
        let end = self.now.after(time);
        loop {
            let wake = self.scheduler.next_wake();
            let planned = self.agenda.next_at();
            let next = wake.into_iter().chain(planned).min().filter(|at| *at <= end);
            self.advance(next.unwrap_or(end));
            match next {
                None => return,
                Some(at) if planned == Some(at) => {
                    let (ticket, sent_at, answer) = self.agenda.pop().expect("it is planned");
                    self.ended(ticket, sent_at, answer);
                }
                Some(_) => self.step(Input::Tick),
            }
        }
    }

    fn advance(&mut self, to: Timestamp) {
        let to = to.max(self.now);
        let ms = to.since(self.now).as_millis() as u64;
        for site in self.sites.values_mut() {
            site.tally.in_flight_ms += ms * site.in_flight;
        }
        self.now = to;
    }

    fn ended(&mut self, ticket: Ticket, sent_at: Timestamp, answer: Answer) {
        let id = ticket.line.destination;
        let site = self.sites.get_mut(&id).expect("it was sent to");
        site.receiver.left(answer);
        site.in_flight -= 1;
        let finding = Finding {
            outcome: answer.outcome,
            status: answer.status,
            retry_after: None,
            attempts: ticket.attempts + 1,
            owed_since: sent_at,
            expires_at: None,
        };
        let next = next(&site.policy, finding, self.now, Chance::new(self.random.bits()));
        site.tally.delivered += u64::from(next == Next::Delivered);
        site.tally.dead += u64::from(matches!(next, Next::Dead(_)));
        let refill = site.refill;
        self.rows.remove(&place(&ticket));
        let after = match next {
            Next::Retry { due } => {
                self.put(ticket.due_again(due));
                After::DueAgain(due)
            }
            Next::Delivered | Next::Dead(_) => After::Gone,
        };
        let health = Health::of(answer.outcome, answer.status);
        let verdict = Verdict { health, latency: self.now.since(sent_at), hold_until: None };
        self.step(Input::Finished { delivery: ticket.delivery, after, verdict });
        // What waits for a retry is no work for now.
        if refill {
            self.owe(id);
        }
    }

    fn put(&mut self, ticket: Ticket) {
        self.rows.insert(place(&ticket), ticket);
    }

    fn step(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let mut actions = Vec::new();
            self.scheduler.step(self.now, input, &mut actions);
            inputs.extend(actions.into_iter().filter_map(|action| self.perform(action)));
        }
    }

    fn perform(&mut self, action: Action) -> Option<Input> {
        match action {
            Action::Send(ticket) => {
                let site = self.sites.get_mut(&ticket.line.destination).expect("it is configured");
                site.tally.attempts += 1;
                site.in_flight += 1;
                let answer = site.receiver.answer(&mut self.random);
                self.agenda.plan(self.now.after(answer.after), (ticket, self.now, answer));
                None
            }
            Action::Load { line, limit } => {
                let tickets: Vec<Ticket> = self.rows_of(line).take(limit).collect();
                let end = tickets.len() < limit;
                Some(Input::Page { line, tickets, end })
            }
            Action::LoadKeys { destination, after, limit } => {
                let line = Line::first(destination, Priority::Normal, Some(OrderKey::WHOLE));
                let asked = if after.is_none() { limit } else { 0 };
                let tickets = self.rows_of(line).take(asked).collect();
                Some(Input::Keys { destination, tickets, end: true })
            }
            Action::Keep(..) => None,
        }
    }

    fn rows_of(&self, line: Line) -> impl Iterator<Item = Ticket> {
        let from = (line, Timestamp::ZERO, DeliveryId::from_u64(0));
        self.rows.range(from..).take_while(move |((of, ..), _)| *of == line).map(|(_, ticket)| *ticket)
    }

    fn tally(&self, id: DestinationId) -> Tally {
        self.sites[&id].tally
    }

    fn view(&self, id: DestinationId) -> DestinationView {
        self.scheduler.view(id, self.now).expect("it is configured")
    }

    /// What the next so long brings.
    fn measure(&mut self, id: DestinationId, time: Duration) -> Tally {
        let before = self.tally(id);
        self.pass(time);
        let after = self.tally(id);
        Tally {
            delivered: after.delivered - before.delivered,
            dead: after.dead - before.dead,
            attempts: after.attempts - before.attempts,
            in_flight_ms: after.in_flight_ms - before.in_flight_ms,
        }
    }
}

fn place(ticket: &Ticket) -> (Line, Timestamp, DeliveryId) {
    let (due, delivery) = ticket.place();
    (ticket.line, due, delivery)
}
