//! How a world begins: accounts with their shares, destinations with their limits and policies, and routes to them.

use crate::random::Random;
use crate::receiver::Health;
use crate::world::{World, block_on};
use postrider_core::account::Weight;
use postrider_core::delivery::Priority;
use postrider_core::destination::{
    CircuitParts, CircuitPolicy, MaxConcurrency, OnDeadLetter, Ordering, RateLimit, TimeoutSeconds,
};
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_core::scheduler::{Floors, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{Account, Change, Destination, Route, Store};
use std::time::Duration;

/// Sources are numbered from 1; source and destination belong to the account of their number.
pub(crate) const SOURCES: u64 = 3;

/// So many slots that several are kept for each priority.
pub(crate) const MANY_SLOTS: u32 = 32;

/// Slots, floors and promotion of a world.
pub(crate) fn scheduler_options(random: &mut Random) -> SchedulerOptions {
    // With few slots everyone has to wait for a turn; with more some are kept free.
    let slots = match random.between(0, 5) {
        0 if random.one_in(4) => random.between(MANY_SLOTS.into(), 64),
        0 => random.between(MANY_SLOTS.into(), 36),
        1 | 2 => random.between(4, 5),
        _ => random.between(1, 12),
    } as u32;
    let usual = SchedulerOptions::of_slots(slots);
    let floors = match random.between(0, 3) {
        0 => Floors::new([0, 0, 0, slots.min(1)], slots).unwrap_or(usual.floors),
        _ => usual.floors,
    };
    let promotion_age = match random.between(0, 5) {
        0 => None,
        1 | 2 => Some(Duration::from_secs(10)),
        _ => usual.promotion_age,
    };
    SchedulerOptions { floors, promotion_age, ..usual }
}

pub(crate) fn configure(world: &mut World) {
    let mut changes = Vec::new();
    for number in 1..=world.accounts {
        let account = account(number, world);
        world.ledger.shared(account.id, account.share());
        changes.push(Change::PutAccount(account));
    }
    let destinations = match world.scheduler_options.slots {
        MANY_SLOTS.. => world.random.between(6, 10),
        _ => world.random.between(1, 6),
    };
    for number in 100..100 + destinations {
        let destination = destination(number, world);
        world.ledger.configured(world.now, destination.id, destination.settings(Timestamp::ZERO));
        world.receivers.insert(destination.id, Health::Healthy);
        changes.push(Change::PutDestination(Box::new(destination)));
    }
    for number in 200..200 + world.random.between(destinations, 3 * destinations) {
        let to = 100 + (number - 200) % destinations;
        changes.push(Change::PutRoute(route(number, to, world)));
    }
    block_on(world.store.configure(changes)).expect("the store in memory can be configured");
}

/// Whose a source or destination is.
pub(crate) fn owner(number: u64, accounts: u64) -> AccountId {
    AccountId::from_u64(1 + number % accounts)
}

fn account(number: u64, world: &mut World) -> Account {
    let account = Account::new(AccountId::from_u64(number), String::new(), world.now);
    Account {
        weight: Weight::new(world.random.between(1, 4)).expect("a small weight is legal"),
        max_in_flight: any_cap(&mut world.random, world.scheduler_options.slots),
        ..account
    }
}

pub(crate) fn any_cap(random: &mut Random, slots: u32) -> Option<u32> {
    let most = if slots >= MANY_SLOTS { slots.into() } else { 6 };
    random.one_in(2).then(|| random.between(1, most) as u32)
}

fn destination(number: u64, world: &mut World) -> Destination {
    let (id, blank) = (DestinationId::from_u64(number), String::new);
    let account = owner(number, world.accounts);
    let (slots, random) = (world.scheduler_options.slots, &mut world.random);
    Destination {
        max_concurrency: any_concurrency(random, slots),
        timeout: TimeoutSeconds::new(random.between(1, 30)).expect("half a minute is legal"),
        retry_policy: policy(random),
        rate_limit: if random.one_in(4) { any_rate(random) } else { None },
        ordering: any_ordering(random),
        on_dead_letter: any_on_dead_letter(random),
        adaptive: random.one_in(2),
        circuit: any_circuit(random),
        ..Destination::new(id, account, blank(), blank(), blank(), world.now)
    }
}

/// Where there are many slots it takes much concurrency to use them.
pub(crate) fn any_concurrency(random: &mut Random, slots: u32) -> MaxConcurrency {
    let value = match random.between(0, 5) {
        0 => 1,
        // So many that some are kept for fresh events.
        1 => random.between(8, 20),
        2.. if slots >= MANY_SLOTS => random.between(8, 20),
        2 => 1,
        _ => random.between(1, 6),
    };
    MaxConcurrency::new(value).expect("a small number is legal")
}

/// Intervals of whole microseconds, so that the checker's bucket and the gate never differ by a rounding.
pub(crate) fn any_rate(random: &mut Random) -> Option<RateLimit> {
    let per_second = random.pick(&[0.1, 0.5, 2.0, 5.0, 20.0])?;
    RateLimit::new(per_second, random.pick(&[None, Some(3), Some(10)])?).ok()
}

pub(crate) fn any_ordering(random: &mut Random) -> Ordering {
    random.pick(&[Ordering::None, Ordering::None, Ordering::Strict, Ordering::ByKey]).unwrap_or_default()
}

pub(crate) fn any_on_dead_letter(random: &mut Random) -> OnDeadLetter {
    if random.one_in(2) { OnDeadLetter::Block } else { OnDeadLetter::Skip }
}

/// In some a single failure opens, in some hardly anything; some go by rate, and of these some open only when all fail.
fn any_circuit(random: &mut Random) -> CircuitPolicy {
    let threshold = if random.one_in(4) { 10_000 } else { random.between(1, 8) };
    let cooldown = random.between(1, 60);
    let cooldown_max = cooldown * random.between(1, 10);
    let by_rate = (5..=8).contains(&threshold);
    let parts = CircuitParts {
        threshold: (!by_rate).then_some(threshold),
        failure_percent: by_rate.then_some(if threshold == 5 { 100 } else { 40 + cooldown }),
        window_attempts: by_rate.then_some(2 * threshold),
        window_seconds: (by_rate && threshold == 8).then_some(cooldown_max),
        cooldown_seconds: Some(cooldown),
        cooldown_max_seconds: Some(cooldown_max),
    };
    CircuitPolicy::from_parts(parts).expect("small numbers are legal")
}

fn route(number: u64, to: u64, world: &mut World) -> Route {
    let (destination, account) = (DestinationId::from_u64(to), owner(to, world.accounts));
    let random = &mut world.random;
    let source = random.between(1, SOURCES);
    let own = owner(source, world.accounts) == account;
    Route {
        source: if random.one_in(3) || !own { None } else { Some(SourceId::from_u64(source)) },
        priority: Priority::from_number(random.between(1, 4)).unwrap_or(Priority::Normal),
        retry_policy: if random.one_in(4) { policy(random) } else { None },
        ..Route::new(RouteId::from_u64(number), account, destination, world.now)
    }
}

/// Short waits make queues move, long ones make them wait; without a policy the default counts.
fn policy(random: &mut Random) -> Option<RetryPolicy> {
    let jitter = if random.one_in(3) { Jitter::None } else { Jitter::Full };
    let (schedule, attempts) = match random.between(0, 4) {
        0 => return None,
        1 => (Schedule::Delays([1, 5, 30, 120].map(Duration::from_secs).into()), Some(6)),
        2 => (Schedule::Delays([5, 600, 7200].map(Duration::from_secs).into()), Some(6)),
        // Soon dead.
        3 => (Schedule::Delays([1].map(Duration::from_secs).into()), Some(2)),
        _ => {
            let (base, cap) = (Duration::from_millis(200), Duration::from_secs(3600));
            (Schedule::Exponential { base, factor: 2.0, cap }, Some(6))
        }
    };
    let max_age = random.one_in(3).then_some(Duration::from_secs(3600));
    RetryPolicy::new(schedule, attempts, max_age, jitter).ok()
}
