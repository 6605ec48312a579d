//! What holds whatever happens: limits, order, no idle slot, no starvation, fair shares.

use super::*;
use crate::account::Weight;
use crate::breaker::CircuitOrder;
use crate::delivery::OrderKey;
use crate::limits::ACCOUNT_LINGER;
use crate::retry::Chance;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const DESTINATIONS: u64 = 5;
/// So few that one is kept for critical deliveries alone.
const FEW_SLOTS: u32 = 6;
/// So many that each band has slots of its own, and concurrency for fresh events.
const MANY_SLOTS: u32 = 40;

#[derive(Clone, Debug)]
enum Op {
    Owe { to: u64, priority: u8, key: u64, count: u64 },
    End { nth: usize, how: How },
    Pass { ms: u64 },
    Configure { to: u64, max_concurrency: u64, paused: bool },
    Circuit { to: u64, order: CircuitOrder },
}

#[derive(Clone, Copy, Debug)]
enum How {
    Delivered,
    Failed { wait_ms: u64 },
    Throttled { wait_ms: u64 },
    GivenUpOn,
    Deferred,
}

/// With more slots more comes at once, and more of it is sent at once.
fn ops(slots: u32) -> impl Strategy<Value = Vec<Op>> {
    let times = u64::from(slots / FEW_SLOTS);
    let how = prop_oneof![
        4 => Just(How::Delivered),
        3 => (0..100_000_u64).prop_map(|wait_ms| How::Failed { wait_ms }),
        1 => (0..5000_u64).prop_map(|wait_ms| How::Throttled { wait_ms }),
        1 => Just(How::GivenUpOn),
        1 => Just(How::Deferred),
    ];
    let order =
        prop_oneof![Just(CircuitOrder::Open), Just(CircuitOrder::HalfOpen), Just(CircuitOrder::Close)];
    let op = prop_oneof![
        8 => (0..DESTINATIONS, 1..=4_u8, 0..4_u64, 1..=times.div_ceil(2))
            .prop_map(|(to, priority, key, count)| Op::Owe { to, priority, key, count }),
        8 => (0..20_usize, how).prop_map(|(nth, how)| Op::End { nth, how }),
        3 => (0..60_000_u64).prop_map(|ms| Op::Pass { ms }),
        1 => (0..DESTINATIONS, 1..5 * times, proptest::bool::weighted(0.2))
            .prop_map(|(to, max_concurrency, paused)| Op::Configure { to, max_concurrency, paused }),
        1 => (0..DESTINATIONS, order).prop_map(|(to, order)| Op::Circuit { to, order }),
    ];
    proptest::collection::vec(op, 1..400)
}

/// A scheduler, the store it pages from, and what must hold of its sends.
struct World {
    bench: Bench,
    /// By the order that pages have.
    stored: BTreeMap<(Line, Timestamp, DeliveryId), Ticket>,
    running: VecDeque<Ticket>,
    max_concurrency: BTreeMap<u64, u64>,
    /// When each account was last owed something.
    owed_at: BTreeMap<AccountId, Timestamp>,
    slots: u32,
    floors: Floors,
    owed: u64,
    gone: u64,
}

impl World {
    /// Where bands have slots of their own nothing is raised to another, so that it is known what is open to what waits.
    fn new(slots: u32, floors: Floors) -> Self {
        let usual = SchedulerOptions::of_slots(slots);
        let promotion_age = usual.promotion_age.filter(|_| floors == Floors::NONE);
        let options = SchedulerOptions { promotion_age, floors, ..usual };
        let mut world = World {
            bench: bytes::bench(options),
            stored: BTreeMap::new(),
            running: VecDeque::new(),
            max_concurrency: BTreeMap::new(),
            owed_at: BTreeMap::new(),
            slots,
            floors,
            owed: 0,
            gone: 0,
        };
        let concurrency = u64::from(slots / 2);
        (0..DESTINATIONS).for_each(|to| world.configure(to, concurrency, false));
        world
    }

    /// Destination 0 is strictly ordered, 1 by key, the others not; they belong to two accounts.
    fn ordering(to: u64) -> Ordering {
        [Ordering::Strict, Ordering::ByKey, Ordering::None][to.min(2) as usize]
    }

    fn account(to: u64) -> AccountId {
        AccountId::from_u64(1 + to % 2)
    }

    fn configure(&mut self, to: u64, max_concurrency: u64, paused: bool) {
        self.max_concurrency.insert(to, max_concurrency);
        let account = World::account(to);
        let ordering = World::ordering(to);
        let settings = Settings { account, ordering, paused, ..settings(max_concurrency) };
        self.input(Input::Configure(destination(to), settings));
    }

    fn perform(&mut self, op: &Op) {
        match *op {
            Op::Owe { to, priority, key, count } => (0..count).for_each(|_| self.owe(to, priority, key)),
            Op::End { nth, how } if nth < self.running.len() => self.end(nth, how),
            Op::End { .. } => {}
            Op::Pass { ms } => self.pass(ms),
            Op::Configure { to, max_concurrency, paused } => self.configure(to, max_concurrency, paused),
            Op::Circuit { to, order } => self.input(Input::Circuit(destination(to), order)),
        }
    }

    fn owe(&mut self, to: u64, priority: u8, key: u64) {
        let priority = Priority::from_number(u64::from(priority)).unwrap();
        let order = match World::ordering(to) {
            Ordering::None => None,
            Ordering::Strict => Some(OrderKey::WHOLE),
            Ordering::ByKey => Some(OrderKey::from_u64(key)),
        };
        let blank = self.bench.ticket(to, Lane::Fresh, self.bench.now);
        let ticket = Ticket { line: Line::first(destination(to), priority, order), priority, ..blank };
        self.owed += 1;
        self.store(ticket);
        self.input(Input::Owed(ticket));
    }

    fn store(&mut self, ticket: Ticket) {
        let (at, delivery) = ticket.place();
        self.stored.insert((ticket.line, at, delivery), ticket);
    }

    fn end(&mut self, nth: usize, how: How) {
        let ticket = self.running.remove(nth).unwrap();
        if let How::Deferred = how {
            return self.input(Input::Deferred { delivery: ticket.delivery, chance: Chance::new(self.owed) });
        }
        let (at, delivery) = ticket.place();
        self.stored.remove(&(ticket.line, at, delivery));
        let ms = |wait_ms| self.bench.now.after(Duration::from_millis(wait_ms));
        let (after, health, hold_until) = match how {
            How::Delivered => (After::Gone, Health::Good, None),
            How::GivenUpOn | How::Deferred => (After::Gone, Health::Failed, None),
            How::Failed { wait_ms } => (After::DueAgain(ms(wait_ms)), Health::Failed, None),
            How::Throttled { wait_ms } => {
                (After::DueAgain(ms(wait_ms)), Health::Throttled, Some(ms(wait_ms)))
            }
        };
        match after {
            After::DueAgain(due) => self.store(ticket.due_again(due)),
            _ => self.gone += 1,
        }
        let verdict = Verdict { health, latency: Duration::from_millis(5), hold_until };
        self.input(Input::Finished { delivery: ticket.delivery, after, verdict });
    }

    fn pass(&mut self, ms: u64) {
        self.bench.now = self.bench.now.after(Duration::from_millis(ms));
        self.input(Input::Tick);
    }

    fn input(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for action in self.bench.step(input) {
                match action {
                    Action::Send(ticket) => self.sent(ticket),
                    Action::Load { line, limit } => {
                        let rows = self.stored.values().filter(|ticket| ticket.line == line).copied();
                        let tickets: Vec<Ticket> = rows.take(limit).collect();
                        inputs.push_back(Input::Page { line, end: tickets.len() < limit, tickets });
                    }
                    Action::LoadKeys { destination, after, limit } => {
                        let past = |ticket: &&Ticket| {
                            let past =
                                ticket.order_key().is_some_and(|key| after.is_none_or(|after| key > after));
                            past && ticket.line.destination == destination
                        };
                        let tickets: Vec<Ticket> =
                            self.stored.values().filter(past).take(limit).copied().collect();
                        inputs.push_back(Input::Keys { destination, end: tickets.len() < limit, tickets });
                    }
                    Action::Keep(..) => {}
                }
            }
        }
        for account in [0, 1].map(World::account) {
            let own = |ticket: &Ticket| World::account(ticket.line.destination.as_u64()) == account;
            if self.stored.values().any(own) {
                self.owed_at.insert(account, self.bench.now);
            }
        }
        self.check_no_idle_slot();
        self.check_lines();
    }

    fn sent(&mut self, ticket: Ticket) {
        let to = ticket.line.destination;
        assert!(ticket.due <= self.bench.now, "{ticket:?} before its time");
        if ticket.order_key().is_some() {
            let earlier = |other: &&Ticket| other.line == ticket.line && other.delivery < ticket.delivery;
            assert_eq!(self.stored.values().find(earlier), None, "out of order");
        }
        self.running.push_back(ticket);
        let in_flight = self.running.iter().filter(|other| other.line.destination == to).count();
        assert!(in_flight as u64 <= self.max_concurrency[&to.as_u64()], "above the concurrency of {to}");
        assert!(self.running.len() <= self.slots as usize);
        bytes::check(&self.running, |ticket| World::account(ticket.line.destination.as_u64()).as_u64());
    }

    /// No slot is free for a destination that may send, unless its account has all it may have.
    fn check_no_idle_slot(&self) {
        if self.running.len() == self.slots as usize {
            return;
        }
        let views = self.bench.scheduler.views(self.bench.now);
        for (id, view) in views.filter(|(_, view)| view.why == Why::Slots) {
            let heads = self.heads(id, view.limit as usize);
            let open = heads.iter().find(|head| self.is_open(head.priority));
            assert!(open.is_none() || self.is_at_cap(id), "{open:?} waits while a slot is open to it");
        }
    }

    /// What of a destination may go: of an ordered line the first and one at a time, and no more retries than leave a
    /// quarter of a greater limit to fresh events.
    fn heads(&self, id: DestinationId, limit: usize) -> Vec<Ticket> {
        let own = || self.running.iter().filter(|ticket| ticket.line.destination == id);
        let is_late = |ticket: &Ticket| matches!(ticket.line.lane, Lane::Retry | Lane::Replay);
        let late_full = limit >= 8 && own().filter(|ticket| is_late(ticket)).count() >= limit - limit / 4;
        let mut lines_seen: BTreeSet<Line> = BTreeSet::new();
        let may_go = |ticket: &&Ticket| match ticket.order_key() {
            Some(_) => lines_seen.insert(ticket.line) && own().all(|other| other.line != ticket.line),
            None => own().all(|other| other.delivery != ticket.delivery) && !(late_full && is_late(ticket)),
        };
        let of_destination = self.stored.values().filter(|ticket| ticket.line.destination == id);
        let heads = of_destination.filter(may_go).filter(|ticket| ticket.due <= self.bench.now);
        heads.copied().collect()
    }

    /// Whether a slot is open to a band: one that is free beside what the others have left of their floors.
    fn is_open(&self, band: Priority) -> bool {
        let used = |of: Priority| self.running.iter().filter(|ticket| ticket.priority == of).count();
        let others = Priority::ALL.into_iter().filter(|of| *of != band);
        let kept: usize = others.map(|of| (self.floors.of(of) as usize).saturating_sub(used(of))).sum();
        self.slots as usize - self.running.len() > kept
    }

    /// Whether an account has all that it leaves to others, and the other is owed something or was a minute ago.
    fn is_at_cap(&self, id: DestinationId) -> bool {
        let account = World::account(id.as_u64());
        let recent = |at: &Timestamp| self.bench.now < at.after(ACCOUNT_LINGER);
        let others = self.owed_at.iter().any(|(other, at)| *other != account && recent(at));
        let floors = Priority::ALL.map(|band| self.floors.of(band));
        let open = self.slots - floors.iter().sum::<u32>() + floors.into_iter().min().unwrap();
        let cap = (self.slots - self.slots / 4).min(if open < 4 { open } else { open - 1 });
        others && self.bench.scheduler.in_flight_of(account) >= cap
    }

    /// What is owed by priority and lane adds up to what is owed.
    fn check_lines(&self) {
        let (ids, mut found) = ((0..DESTINATIONS).map(destination).collect::<Vec<_>>(), Vec::new());
        self.bench.scheduler.queues(&ids, self.bench.now, usize::MAX, &mut found);
        for queue in found {
            let rows: u64 = queue.lines.iter().map(|line| line.rows).sum();
            assert_eq!(rows, queue.seen.pending.rows, "{:?}", queue.lines);
        }
    }

    /// With every receiver well, everything is delivered.
    fn drain(&mut self) {
        for to in 0..DESTINATIONS {
            self.input(Input::Circuit(destination(to), CircuitOrder::Close));
            self.configure(to, 3, false);
        }
        while !self.stored.is_empty() {
            if self.running.is_empty() {
                let wake = self.bench.scheduler.next_wake().expect("something is owed, so something is due");
                self.pass(wake.since(self.bench.now).as_millis() as u64);
            } else {
                self.end(0, How::Delivered);
            }
        }
    }
}

fn check_everything_ends(slots: u32, floors: Floors, ops: &[Op]) {
    let mut world = World::new(slots, floors);
    ops.iter().for_each(|op| world.perform(op));
    world.drain();
    assert_eq!(world.gone, world.owed);
    assert_eq!(world.bench.scheduler.pending(), Depth::default());
    assert_eq!(world.bench.scheduler.waiting(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn limits_order_and_work_hold_and_everything_ends(ops in ops(FEW_SLOTS)) {
        check_everything_ends(FEW_SLOTS, Floors::NONE, &ops);
    }

    #[test]
    fn the_same_holds_where_a_slot_is_kept_for_critical_deliveries(ops in ops(FEW_SLOTS)) {
        check_everything_ends(FEW_SLOTS, Floors::of_slots(FEW_SLOTS), &ops);
    }

    #[test]
    fn the_same_holds_where_each_band_has_slots_of_its_own(ops in ops(MANY_SLOTS)) {
        check_everything_ends(MANY_SLOTS, Floors::of_slots(MANY_SLOTS), &ops);
    }

    /// While all slots are in use, a delivery that may be sent is sent within this many sends: its turns (place in
    /// its line × 9, a replay's share, × destinations of its account) ÷ its account's weight × all weights × slots ÷
    /// its band's floor (without one, sixteen), and once round the slots.
    #[test]
    fn nobody_starves(
        accounts in proptest::collection::vec((1..6_u64, 1..4_u64), 1..5),
        slots in 4..40_u32,
    ) {
        let floors = Floors::of_slots(slots);
        let mut bench = Bench::with(SchedulerOptions { promotion_age: None, ..SchedulerOptions::of_slots(slots) });
        let weights: u64 = accounts.iter().map(|(weight, _)| weight).sum();
        let mut bounds: BTreeMap<DeliveryId, u64> = BTreeMap::new();
        for (number, (weight, destinations)) in (1..).zip(&accounts) {
            let account = AccountId::from_u64(number);
            bench.step(Input::Share(account, Share { weight: Weight::new(*weight).unwrap(), max_in_flight: Some(slots) }));
            for to in 0..*destinations {
                let to = number * 10 + to;
                bench.step(Input::Configure(destination(to), Settings { account, paused: true, ..settings(1000) }));
                for (priority, lane, place) in Priority::ALL.into_iter().flat_map(|priority| {
                    [Lane::Fresh, Lane::Retry, Lane::Replay].into_iter().flat_map(move |lane| (1..=6_u64).map(move |place| (priority, lane, place)))
                }) {
                    let blank = bench.ticket(to, lane, START);
                    let ticket = Ticket { priority, line: Line { priority, ..blank.line }, ..blank };
                    let rounds = (place * 9 * destinations).div_ceil(*weight);
                    let waits = match floors.of(priority) {
                        0 => 2 * 16,
                        floor => slots.div_ceil(floor),
                    };
                    let bound = rounds * weights * u64::from(waits);
                    bounds.insert(ticket.delivery, bound + u64::from(slots));
                    bench.step(Input::Owed(ticket));
                }
            }
        }
        let mut running = VecDeque::new();
        for (number, (_, destinations)) in (1..).zip(&accounts) {
            for to in 0..*destinations {
                let settings = Settings { account: AccountId::from_u64(number), ..settings(1000) };
                running.extend(sends(&bench.step(Input::Configure(destination(number * 10 + to), settings))));
            }
        }
        let mut sent = 0;
        while let Some(delivery) = running.pop_front() {
            sent += 1;
            prop_assert!(sent <= bounds[&delivery], "{delivery} was sent as number {sent}, its bound is {}", bounds[&delivery]);
            running.extend(bench.finish(delivery, None));
        }
        prop_assert_eq!(sent, bounds.len() as u64);
    }
}
