//! What the next run finds.

use super::Harness;
use super::configuration::{account, api_key, configuration, plain_destination, route, source};
use super::sample::{
    DEAD, START, accept, accept_one, detail, event, finish, fresh, owed, retry, seconds, waiting,
};
use crate::{Change, Configuration, EventContent, Store};
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::id::{AccountId, DestinationId, EventId};
use postrider_core::outcome::Next;

pub async fn what_was_committed_outlives_a_crash(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut events = Vec::new();
    let ends = [None, Some(Next::Delivered), Some(Next::Retry { due: START.after(seconds(30)) }), Some(DEAD)];
    for (id, end) in (100..).step_by(10).zip(ends) {
        let new = event(id, vec![owed(id + 1, 10)]);
        let ticket = accept_one(&*store, new.clone()).await;
        if let Some(next) = end {
            finish(&*store, id + 2, ticket, next).await;
        }
        events.push((new, detail(&*store, ticket.event).await));
    }
    let mut lines = store.lines().await.unwrap();
    let queue = (waiting(&*store, fresh(10)).await, waiting(&*store, retry(10)).await);
    assert_eq!((lines.len(), queue.0.len(), queue.1.len()), (2, 1, 1));
    drop(store);

    let store = harness.open().await;
    let mut lines_again = store.lines().await.unwrap();
    lines.sort_by_key(|depth| depth.line);
    lines_again.sort_by_key(|depth| depth.line);
    assert_eq!(lines_again, lines);
    assert_eq!((waiting(&*store, fresh(10)).await, waiting(&*store, retry(10)).await), queue);
    for (new, seen) in events {
        assert_eq!(detail(&*store, new.id).await, seen);
        assert_eq!(store.content(new.id).await.unwrap(), Some(EventContent::clone(&new.content)));
    }
    accept(&*store, vec![event(200, vec![owed(201, 10)])]).await;
    assert_eq!(waiting(&*store, fresh(10)).await.len(), 2, "and it goes on");
}

pub async fn what_was_configured_outlives_a_crash(harness: &dyn Harness) {
    let store = harness.open().await;
    let changes = vec![
        Change::PutAccount(account()),
        Change::PutApiKey(api_key(20)),
        Change::PutSource(source(30)),
        Change::PutDestination(Box::new(plain_destination(40))),
        Change::PutRoute(route(50, None, 40)),
    ];
    store.configure(changes).await.unwrap();
    drop(store);
    let all = configuration(&*harness.open().await).await;
    assert!(all.accounts == [account()] && all.api_keys == [api_key(20)]);
    assert!(all.sources == [source(30)] && all.destinations == [plain_destination(40)]);
    assert_eq!(all.routes, [route(50, None, 40)]);
}

/// A run begins when the configuration is read.
pub async fn open_circuits_outlive_a_crash(harness: &dyn Harness) {
    let store = harness.open().await;
    let ids: Vec<DestinationId> = (1..=4).map(DestinationId::from_u64).collect();
    let put = |id: &DestinationId| Change::PutDestination(Box::new(plain_destination(id.as_u64())));
    store.configure(ids[..3].iter().map(put).collect()).await.unwrap();
    let open = CircuitRecord { circuit: Circuit::Open { until: START }, trips: 3 };
    let probing = CircuitRecord { circuit: Circuit::HalfOpen, trips: 1 };
    let kept = vec![(ids[0], open), (ids[1], probing), (ids[2], open), (ids[3], open)];
    store.keep_circuits(kept).await.unwrap();
    store.keep_circuits(vec![(ids[2], CircuitRecord::default())]).await.unwrap();
    drop(store);
    let store = harness.open().await;
    let circuits = |configuration: Configuration| configuration.circuits;
    let found = circuits(store.configuration().await.unwrap());
    assert_eq!(found, [(ids[0], open), (ids[1], probing)], "one that closed or is unknown is not kept");
    store.configure(vec![Change::DeleteDestination(ids[0])]).await.unwrap();
    assert_eq!(circuits(store.configuration().await.unwrap()), [(ids[1], probing)]);
}

pub async fn a_run_that_was_not_closed_is_an_unclean_stop(harness: &dyn Harness) {
    let mut id = 100;
    // How each run ends, and what the next one must be told.
    for (close, unclean_before) in [(true, false), (false, false), (false, true), (true, true), (true, false)]
    {
        let store = harness.open().await;
        assert_eq!(store.configuration().await.unwrap().unclean_stop, unclean_before, "run {id}");
        accept(&*store, vec![event(id, vec![owed(id + 1, 10)])]).await;
        id += 10;
        if close {
            store.close().await.unwrap();
        }
        drop(store);
    }
}

/// Whatever comes next must be greater than anything there is, or an id would be given out twice.
pub async fn the_id_floor_is_the_greatest_id_of_any_kind(harness: &dyn Harness) {
    async fn floor_is(harness: &dyn Harness, store: std::sync::Arc<dyn Store>, expected: u64) {
        drop(store);
        let floor = harness.open().await.configuration().await.unwrap().id_floor;
        assert_eq!(floor, expected);
    }
    let changes = |id: u64| {
        [
            Change::PutAccount(crate::Account { id: AccountId::from_u64(id), ..account() }),
            Change::PutApiKey(api_key(id + 1)),
            Change::PutSource(source(id + 2)),
            Change::PutDestination(Box::new(plain_destination(id + 3))),
            Change::PutRoute(route(id + 4, None, id + 3)),
        ]
    };
    for (id, change) in (1000..).zip(changes(1000)) {
        let store = harness.open().await;
        store.configure(vec![change]).await.unwrap();
        floor_is(harness, store, id).await;
    }
    let store = harness.open().await;
    accept(&*store, vec![event(2000, vec![])]).await;
    floor_is(harness, store, 2000).await;
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(2010, vec![owed(2011, 1003)])).await;
    floor_is(harness, store, 2011).await;
    let store = harness.open().await;
    finish(&*store, 3000, ticket, Next::Delivered).await;
    floor_is(harness, store, 3000).await;
    let great = 1 << 62;
    let store = harness.open().await;
    accept(&*store, vec![event(great, vec![])]).await;
    assert!(store.content(EventId::from_u64(great)).await.unwrap().is_some());
    floor_is(harness, store, great).await;
}
