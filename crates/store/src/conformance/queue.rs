//! Reading what is owed.

use super::Harness;
use super::sample::{
    BODY_BYTES, START, accept, accept_one, event, finish, fresh, load, owed, received, retry, waiting,
};
use crate::{LineDepth, NewDelivery, NewEvent};
use postrider_core::delivery::{Lane, Line, Priority, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;
use std::time::Duration;

const PRIORITIES: [Priority; 4] = [Priority::Critical, Priority::High, Priority::Normal, Priority::Bulk];

/// When a page is exactly as long as its limit, a store may but need not know that it was the last.
pub async fn a_page_is_in_order_of_place_and_tells_its_end(harness: &dyn Harness) {
    let store = harness.open().await;
    // Two in each millisecond, committed with the later moments first.
    let times = [40, 40, 30, 30, 20, 20, 10, 10];
    let mut events: Vec<NewEvent> = (0..)
        .step_by(10)
        .zip(times)
        .map(|(id, ms)| {
            received(START.after(Duration::from_millis(ms)), event(100 + id, vec![owed(101 + id, 10)]))
        })
        .collect();
    let last = events.pop().unwrap();
    accept(&*store, events.clone()).await;
    accept(&*store, vec![last.clone()]).await;
    let mut expected: Vec<Ticket> = events.iter().chain([&last]).flat_map(NewEvent::tickets).collect();
    expected.sort_by_key(Ticket::place);
    for limit in 1..=10 {
        let page = load(&*store, fresh(10), limit).await;
        assert_eq!(page.tickets, expected[..limit.min(8)], "limit {limit}");
        assert!(limit == 8 || page.end == (limit > 8), "limit {limit}");
    }
}

pub async fn a_page_is_of_one_line_only(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut id = 100;
    let mut expected: Vec<Ticket> = Vec::new();
    for (to, priority) in (9..=11).flat_map(|to| PRIORITIES.map(|priority| (to, priority))) {
        let waits = NewDelivery { priority, ..owed(id + 1, to) };
        let fails = NewDelivery { priority, ..owed(id + 11, to) };
        expected.push(accept_one(&*store, event(id, vec![waits])).await);
        let ticket = accept_one(&*store, event(id + 10, vec![fails])).await;
        finish(&*store, id + 12, ticket, Next::Retry { due: START }).await;
        expected.push(Ticket { line: Line { lane: Lane::Retry, ..ticket.line }, attempts: 1, ..ticket });
        id += 20;
    }
    for ticket in expected {
        assert_eq!(waiting(&*store, ticket.line).await, [ticket]);
    }
}

pub async fn lines_tell_how_much_is_owed(harness: &dyn Harness) {
    let store = harness.open().await;
    let bulk = |id, to| NewDelivery { priority: Priority::Bulk, ..owed(id, to) };
    accept(&*store, vec![event(100, vec![owed(101, 10), owed(102, 11), bulk(103, 11)])]).await;
    accept(&*store, vec![event(110, vec![owed(111, 10), owed(112, 10)])]).await;
    let failed = accept_one(&*store, event(120, vec![owed(121, 10)])).await;
    finish(&*store, 122, failed, Next::Retry { due: START }).await;
    let done = accept_one(&*store, event(130, vec![owed(131, 12)])).await;
    finish(&*store, 132, done, Next::Delivered).await;
    let mut lines = store.lines().await.unwrap();
    lines.sort_by_key(|depth| depth.line);
    let bulk_line = Line { priority: Priority::Bulk, ..fresh(11) };
    let depth = |(line, rows)| LineDepth { line, rows, bytes: rows * BODY_BYTES };
    assert_eq!(lines, [(fresh(10), 3), (retry(10), 1), (fresh(11), 1), (bulk_line, 1)].map(depth));
}

/// Ids have 63 bits and dates reach into the year 9999: nothing may be cut or turn negative on the way.
pub async fn the_greatest_ids_and_dates_keep_their_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let top = i64::MAX as u64;
    let delivery = |id: u64| NewDelivery {
        id: DeliveryId::from_u64(id),
        destination: DestinationId::from_u64(top),
        route: RouteId::from_u64(top),
        priority: Priority::Critical,
        order: None,
    };
    let far = |id: u64, deliveries| received(Timestamp::MAX, event(id, deliveries));
    let soon = event(top - 10, vec![delivery(top - 9)]);
    let late = far(top - 8, vec![delivery(top - 7), delivery(top - 1)]);
    let epoch = received(Timestamp::ZERO, event(top - 6, vec![delivery(top - 5)]));
    accept(&*store, vec![soon.clone(), late.clone(), epoch.clone()]).await;
    let expected: Vec<Ticket> = [&epoch, &soon, &late].into_iter().flat_map(NewEvent::tickets).collect();
    let first = waiting(&*store, expected[0].line).await;
    assert_eq!(first, expected);
    finish(&*store, top, first[0], Next::Retry { due: Timestamp::MAX }).await;
    let line = Line { lane: Lane::Retry, ..first[0].line };
    let again = waiting(&*store, line).await;
    assert_eq!(again, [Ticket { line, due: Timestamp::MAX, attempts: 1, ..first[0] }]);
    assert_eq!(again[0].event, EventId::from_u64(top - 6));
}
