//! What a delivery costs the scheduler: its arrival, its turn and its end, with 10,000 destinations of 100 accounts
//! and a backlog in the store, and whether that grows with the backlog.
//!
//! `cargo bench -p postrider-core`

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench fails by panicking")]

use criterion::{Criterion, criterion_group, criterion_main};
use postrider_core::delivery::{Lane, Line, Priority, Ticket};
use postrider_core::destination::{CircuitPolicy, MaxConcurrency, Ordering};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::outcome::Health;
use postrider_core::scheduler::{
    Action, After, Depth, Input, Scheduler, SchedulerOptions, Settings, Share, Verdict,
};
use postrider_core::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

const DESTINATIONS: u64 = 10_000;
const ACCOUNTS: u64 = 100;
const SLOTS: u32 = 512;
const NOW: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

struct Load {
    scheduler: Scheduler,
    actions: Vec<Action>,
    running: VecDeque<Ticket>,
    next_id: u64,
}

impl Load {
    /// So many deliveries owed to all destinations alike, as many in flight as there are slots.
    fn new(backlog: u64) -> Self {
        let scheduler = Scheduler::new(SchedulerOptions::of_slots(SLOTS));
        let mut load = Load { scheduler, actions: Vec::new(), running: VecDeque::new(), next_id: 0 };
        (0..ACCOUNTS)
            .for_each(|number| load.step(Input::Share(AccountId::from_u64(number), Share::default())));
        (0..DESTINATIONS).for_each(|number| load.step(configured(number)));
        (0..backlog).for_each(|number| load.owe(number % DESTINATIONS));
        load
    }

    fn ticket(&mut self, line: Line) -> Ticket {
        self.next_id += 1;
        Ticket {
            delivery: DeliveryId::from_u64(self.next_id),
            event: EventId::from_u64(self.next_id),
            route: RouteId::from_u64(1),
            line,
            priority: line.priority,
            due: NOW,
            attempts: 0,
            bytes: 1024,
        }
    }

    fn owe(&mut self, to: u64) {
        let priority = Priority::ALL[(to % 4) as usize];
        let destination = DestinationId::from_u64(to);
        let ticket = self.ticket(Line { destination, priority, lane: Lane::Fresh });
        self.step(Input::Owed(ticket));
    }

    /// Steps, and answers pages with new rows, as a store with an endless backlog would.
    fn step(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.scheduler.step(NOW, input, &mut self.actions);
            let actions = std::mem::take(&mut self.actions);
            for action in &actions {
                match *action {
                    Action::Send(ticket) => self.running.push_back(ticket),
                    Action::Load { line, limit } => {
                        let tickets = (0..limit).map(|_| self.ticket(line)).collect();
                        inputs.push(Input::Page { line, tickets, end: false });
                    }
                    Action::LoadKeys { .. } | Action::Keep(..) => {}
                }
            }
            self.actions = actions;
            self.actions.clear();
        }
    }

    /// One delivery ends, its slot goes to another, and a new one arrives for the same destination.
    fn deliver(&mut self) {
        let done = self.running.pop_front().unwrap();
        let verdict = Verdict { health: Health::Good, latency: Duration::from_millis(20), hold_until: None };
        self.step(Input::Finished { delivery: done.delivery, after: After::Gone, verdict });
        self.owe(done.line.destination.as_u64());
    }
}

fn configured(number: u64) -> Input {
    let settings = Settings {
        account: AccountId::from_u64(number % ACCOUNTS),
        max_concurrency: MaxConcurrency::default(),
        adaptive: true,
        rate_limit: None,
        ordering: Ordering::None,
        circuit: CircuitPolicy::default(),
        paused: false,
        target: 0,
        hold_until: Timestamp::ZERO,
    };
    Input::Configure(DestinationId::from_u64(number), settings)
}

fn deliveries(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a delivery at 10,000 destinations");
    group.sample_size(20).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    for backlog in [100_000_u64, 1_000_000, 4_000_000] {
        let mut load = Load::new(backlog);
        let held = load.scheduler.waiting();
        group.bench_function(format!("{backlog} pending"), |bench| {
            bench.iter(|| load.deliver());
        });
        let Depth { rows, .. } = load.scheduler.pending();
        eprintln!("    {rows} pending, {held} tickets in memory");
    }
    group.finish();
}

criterion_group!(benches, deliveries);
criterion_main!(benches);
