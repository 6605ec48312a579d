//! The scheduler, seen through its actions.

mod backlog;
mod bytes;
mod caps;
mod circuit;
mod deferred;
mod delayed;
mod few_slots;
mod keys;
mod limits;
mod ordered;
mod overtaken;
mod paging;
mod properties;
mod queue;
mod told;
mod turns;
mod weights;

use super::*;
use crate::delivery::Line;
use crate::destination::{CircuitPolicy, MaxConcurrency, Ordering};
use crate::id::{EventId, RouteId};
use crate::outcome::Health;

const START: Timestamp = Timestamp::from_unix_ms(1_000_000);
const ACCOUNT: AccountId = AccountId::from_u64(1);

struct Bench {
    scheduler: Scheduler,
    now: Timestamp,
    next_id: u64,
    /// Lengths of bodies, in turn.
    bodies: Vec<u32>,
}

fn destination(number: u64) -> DestinationId {
    DestinationId::from_u64(number)
}

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

fn line(destination: DestinationId, lane: Lane) -> Line {
    Line { destination, priority: Priority::Normal, lane }
}

fn verdict(health: Health) -> Verdict {
    Verdict { health, latency: Duration::from_millis(10), hold_until: None }
}

impl Bench {
    fn new(slots: u32, destinations: u64, max_concurrency: u64) -> Self {
        let mut bench = Bench::with(SchedulerOptions::of_slots(slots));
        for number in 0..destinations {
            bench.step(Input::Configure(destination(number), settings(max_concurrency)));
        }
        bench
    }

    fn with(options: SchedulerOptions) -> Self {
        Bench { scheduler: Scheduler::new(options), now: START, next_id: 0, bodies: vec![100] }
    }

    fn step(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        self.scheduler.step(self.now, input, &mut actions);
        actions
    }

    fn ticket(&mut self, to: u64, lane: Lane, due: Timestamp) -> Ticket {
        self.next_id += 1;
        Ticket {
            delivery: DeliveryId::from_u64(self.next_id),
            event: EventId::from_u64(self.next_id),
            route: RouteId::from_u64(1),
            line: line(destination(to), lane),
            priority: Priority::Normal,
            due,
            attempts: 0,
            bytes: self.bodies[self.next_id as usize % self.bodies.len()],
        }
    }

    /// Accepts an event for a destination; gives what was sent.
    fn owe(&mut self, to: u64) -> Vec<DeliveryId> {
        self.owe_at(to, Priority::Normal)
    }

    fn owe_at(&mut self, to: u64, priority: Priority) -> Vec<DeliveryId> {
        let mut ticket = self.ticket(to, Lane::Fresh, self.now);
        ticket.priority = priority;
        ticket.line.priority = priority;
        sends(&self.step(Input::Owed(ticket)))
    }

    fn finish(&mut self, delivery: DeliveryId, due_again: Option<Timestamp>) -> Vec<DeliveryId> {
        let health = if due_again.is_some() { Health::Failed } else { Health::Good };
        sends(&self.end(delivery, due_again.map_or(After::Gone, After::DueAgain), health))
    }

    fn end(&mut self, delivery: DeliveryId, after: After, health: Health) -> Vec<Action> {
        self.step(Input::Finished { delivery, after, verdict: verdict(health) })
    }

    fn pass(&mut self, time: Duration) -> Vec<DeliveryId> {
        self.now = self.now.after(time);
        sends(&self.step(Input::Tick))
    }

    fn in_flight_to(&self, to: u64) -> usize {
        self.scheduler.in_flight().filter(|ticket| ticket.line.destination == destination(to)).count()
    }

    fn view(&self, to: u64) -> DestinationView {
        self.scheduler.view(destination(to), self.now).unwrap()
    }
}

fn sends(actions: &[Action]) -> Vec<DeliveryId> {
    let sent = |action: &Action| match action {
        Action::Send(ticket) => Some(ticket.delivery),
        _ => None,
    };
    actions.iter().filter_map(sent).collect()
}

fn loads(actions: &[Action]) -> Vec<(Line, usize)> {
    let loaded = |action: &Action| match action {
        Action::Load { line, limit } => Some((*line, *limit)),
        _ => None,
    };
    actions.iter().filter_map(loaded).collect()
}
