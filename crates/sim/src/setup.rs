//! How a world begins: some destinations with their limits and policies, and routes to them.

use crate::nemesis::concurrency;
use crate::random::Random;
use crate::receiver::Health;
use crate::world::{World, block_on};
use postrider_core::delivery::Priority;
use postrider_core::destination::CircuitPolicy;
use postrider_core::destination::TimeoutSeconds;
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_store::{Change, Destination, Route, Store};
use std::time::Duration;

pub(crate) const ACCOUNT: AccountId = AccountId::from_u64(1);
/// Sources are numbered from 1.
pub(crate) const SOURCES: u64 = 3;

pub(crate) fn configure(world: &mut World) {
    let destinations = world.random.between(1, 6);
    let mut changes = Vec::new();
    for number in 100..100 + destinations {
        let destination = destination(number, world);
        let (id, max, paused) = (destination.id, destination.max_concurrency.get(), !destination.active);
        world.ledger.configured(id, max, paused);
        world.receivers.insert(id, Health::Healthy);
        changes.push(Change::PutDestination(Box::new(destination)));
    }
    for number in 200..200 + world.random.between(destinations, 3 * destinations) {
        let to = DestinationId::from_u64(100 + (number - 200) % destinations);
        changes.push(Change::PutRoute(route(number, to, world)));
    }
    block_on(world.store.configure(changes)).expect("the store in memory can be configured");
}

fn destination(number: u64, world: &mut World) -> Destination {
    let random = &mut world.random;
    let (id, blank) = (DestinationId::from_u64(number), String::new);
    Destination {
        max_concurrency: concurrency(if random.one_in(3) { 1 } else { random.between(1, 6) }),
        timeout: TimeoutSeconds::new(random.between(1, 30)).expect("half a minute is legal"),
        retry_policy: policy(random),
        adaptive: false,
        circuit: CircuitPolicy::new(Some(10_000), None, None).expect("the most is legal"),
        ..Destination::new(id, ACCOUNT, blank(), blank(), blank(), world.now)
    }
}

fn route(number: u64, destination: DestinationId, world: &mut World) -> Route {
    let random = &mut world.random;
    let source = SourceId::from_u64(random.between(1, SOURCES));
    Route {
        source: if random.one_in(3) { None } else { Some(source) },
        priority: Priority::from_number(random.between(1, 4)).unwrap_or(Priority::Normal),
        retry_policy: if random.one_in(4) { policy(random) } else { None },
        ..Route::new(RouteId::from_u64(number), ACCOUNT, destination, world.now)
    }
}

/// Short waits make queues move, long ones make them wait; without a policy the default counts.
fn policy(random: &mut Random) -> Option<RetryPolicy> {
    let jitter = if random.one_in(3) { Jitter::None } else { Jitter::Full };
    let schedule = match random.between(0, 3) {
        0 => return None,
        1 => Schedule::Delays([1, 5, 30, 120].map(Duration::from_secs).into()),
        2 => Schedule::Delays([5, 600, 7200].map(Duration::from_secs).into()),
        _ => Schedule::Exponential {
            base: Duration::from_millis(200),
            factor: 2.0,
            cap: Duration::from_secs(3600),
        },
    };
    let max_age = random.one_in(3).then_some(Duration::from_secs(3600));
    RetryPolicy::new(schedule, Some(6), max_age, jitter).ok()
}
