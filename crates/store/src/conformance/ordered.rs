//! Ordered lanes: one line for each key, in the order of acceptance whatever is due when.

use super::Harness;
use super::sample::{DEAD, START, accept, accept_one, detail, event, finished, owed, seconds, waiting};
use crate::{Batch, NewDelivery, NewEvent, Store};
use postrider_core::delivery::{DeliveryStatus, Line, OrderKey, Priority, Ticket};
use postrider_core::id::EventId;
use postrider_core::outcome::Next;
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use std::sync::Arc;

fn keyed(id: u64, key: u64, priority: Priority) -> NewEvent {
    let order = Some(OrderKey::from_u64(key));
    event(id, vec![NewDelivery { order, priority, ..owed(id + 1, 10) }])
}

fn line(key: u64) -> Line {
    Line::first(super::sample::destination(10), Priority::Bulk, Some(OrderKey::from_u64(key)))
}

async fn keys(store: &dyn Store, after: Option<u64>, limit: usize) -> Vec<Ticket> {
    let after = after.map(OrderKey::from_u64);
    store.load_keys(super::sample::destination(10), after, limit).await.unwrap().tickets
}

pub async fn a_key_keeps_the_order_of_acceptance_over_priorities_and_retries(harness: &dyn Harness) {
    let store = harness.open().await;
    let bulk = accept_one(&*store, keyed(100, 7, Priority::Bulk)).await;
    let critical = accept_one(&*store, keyed(110, 7, Priority::Critical)).await;
    assert_eq!(waiting(&*store, line(7)).await, [bulk, critical]);
    let due = START.after(seconds(30));
    let retry =
        Arc::new(Batch { finished: vec![finished(102, bulk, Next::Retry { due })], ..Batch::default() });
    store.commit(retry).await.unwrap();
    assert_eq!(waiting(&*store, line(7)).await, [Ticket { due, attempts: 1, ..bulk }, critical]);
}

pub async fn keys_are_read_one_after_the_other(harness: &dyn Harness) {
    let store = harness.open().await;
    let greatest = i64::MAX as u64;
    let events = [(100, 9), (110, 0), (120, 9), (130, greatest), (140, 5)];
    accept(&*store, events.map(|(id, key)| keyed(id, key, Priority::Normal)).to_vec()).await;
    accept(&*store, vec![event(150, vec![owed(151, 10), owed(152, 11)])]).await;
    let ids = |tickets: Vec<Ticket>| tickets.iter().map(|ticket| ticket.event.as_u64()).collect::<Vec<_>>();
    assert_eq!(ids(keys(&*store, None, 10).await), [110, 140, 100, 120, 130]);
    assert_eq!(ids(keys(&*store, None, 3).await), [110, 140, 100]);
    assert_eq!(ids(keys(&*store, Some(0), 10).await), [140, 100, 120, 130]);
    assert_eq!(ids(keys(&*store, Some(9), 10).await), [130]);
    assert_eq!(ids(keys(&*store, Some(greatest), 10).await), [0; 0]);
    let lines = store.lines().await.unwrap();
    let ordered = lines.iter().find(|depth| depth.line == line(0)).unwrap();
    assert_eq!((ordered.rows, lines.len()), (5, 3), "all keys are one line");
}

pub async fn a_head_given_up_on_blocks_its_key_if_it_is_to(harness: &dyn Harness) {
    let store = harness.open().await;
    let head = accept_one(&*store, keyed(100, 7, Priority::Normal)).await;
    let next = accept_one(&*store, keyed(110, 7, Priority::Normal)).await;
    let mut dead = finished(102, head, DEAD);
    dead.blocks_line = true;
    store.commit(Arc::new(Batch { finished: vec![dead], ..Batch::default() })).await.unwrap();
    assert_eq!(waiting(&*store, line(7)).await, [Ticket { due: Timestamp::MAX, attempts: 1, ..head }, next]);
    let state = &detail(&*store, EventId::from_u64(100)).await.deliveries[0];
    assert_eq!(state.status, DeliveryStatus::DeadLetter);
    let other = super::sample::destination(11);
    assert_eq!(store.release(other).await.unwrap(), Depth::default());
    assert_eq!(store.release(head.line.destination).await.unwrap(), Depth::of(&head));
    assert_eq!(waiting(&*store, line(7)).await, [next], "released, the rest goes on");
}
