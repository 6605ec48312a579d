//! Taking events in.

use super::Harness;
use super::sample::{START, accept, commit, detail, event, fresh, load, owed, received, rows, waiting};
use crate::{Acceptance, EventContent, EventStatus, NewEvent, Receipt};
use bytes::Bytes;
use postrider_core::delivery::{DeliveryStatus, Priority, Ticket};
use postrider_core::id::EventId;
use postrider_core::limits::{BODY_BYTES_MAX, COMMIT_EVENTS_MAX};
use std::sync::Arc;
use std::time::Duration;

pub async fn an_event_is_owed_to_all_it_fans_out_to(harness: &dyn Harness) {
    let store = harness.open().await;
    let wide = event(10_000, (0..1000).map(|number| owed(20_000 + number, 5_000 + number)).collect());
    accept(&*store, vec![wide.clone()]).await;
    let mut lines = store.lines().await.unwrap();
    lines.sort_by_key(|depth| depth.line);
    assert_eq!(lines.len(), 1000);
    for (number, depth) in (0..).zip(lines) {
        assert_eq!((depth.line, depth.rows), (fresh(5_000 + number), 1));
    }
    for ticket in wide.tickets() {
        assert_eq!(waiting(&*store, ticket.line).await, [ticket]);
    }
    let seen = detail(&*store, wide.id).await;
    let ids: Vec<_> = seen.deliveries.iter().map(|delivery| (delivery.id, delivery.destination)).collect();
    let expected: Vec<_> = wide.deliveries.iter().map(|owed| (owed.id, owed.destination)).collect();
    assert_eq!(ids, expected);
    assert!(seen.deliveries.iter().all(|delivery| delivery.status == DeliveryStatus::Queued));
    assert!(seen.deliveries.iter().all(|delivery| delivery.next_attempt_at == Some(START)));
}

pub async fn an_event_that_nobody_wants_is_kept_and_owed_to_nobody(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![event(100, vec![])]).await;
    assert_eq!(store.lines().await.unwrap(), []);
    let seen = detail(&*store, EventId::from_u64(100)).await;
    assert_eq!(EventStatus::of(&seen), EventStatus::Accepted);
}

fn content(event: &NewEvent) -> EventContent {
    EventContent::clone(&event.content)
}

pub async fn the_bytes_come_back_as_they_came(harness: &dyn Harness) {
    let store = harness.open().await;
    let headers = [("B", "2"), ("a", "1"), ("B", ""), ("x", "\"ö\\ \t")].into_iter().collect();
    let plain = event(100, vec![owed(101, 10)]);
    let every_byte = NewEvent {
        content: Arc::new(EventContent { headers, body: (0..=255).collect(), ..content(&plain) }),
        external_id: Some("their-id-ö".into()),
        ..plain
    };
    let nothing = EventContent {
        headers: Default::default(),
        body: Bytes::new(),
        event_type: None,
        ..content(&every_byte)
    };
    let nothing = NewEvent { content: Arc::new(nothing), ..event(102, vec![]) };
    let largest = EventContent { body: vec![0xA5; BODY_BYTES_MAX].into(), ..content(&nothing) };
    let largest = NewEvent { content: Arc::new(largest), ..event(103, vec![]) };
    let events = [every_byte, nothing, largest];
    accept(&*store, events.to_vec()).await;
    for event in &events {
        let found = store.content(event.id).await.unwrap().unwrap();
        // Compared by hand: five megabytes in a failed assertion help nobody.
        assert!(found == *event.content, "the content of {} differs", event.id);
        let seen = detail(&*store, event.id).await;
        assert!(seen.content == found, "the detail of {} differs", event.id);
        assert_eq!(
            (seen.content.origin, seen.external_id),
            (event.content.origin, event.external_id.clone())
        );
    }
    assert_eq!(store.content(EventId::from_u64(99)).await.unwrap(), None);
}

pub async fn a_large_batch_is_answered_in_its_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let number = |index: usize| 10_000 + 10 * index as u64;
    let events: Vec<NewEvent> = (0..COMMIT_EVENTS_MAX)
        .map(|index| {
            let received_at = START.after(Duration::from_millis(index as u64));
            received(received_at, event(number(index), vec![owed(number(index) + 1, 10)]))
        })
        .collect();
    let expected: Vec<Ticket> = events.iter().flat_map(NewEvent::tickets).collect();
    let receipt = commit(&*store, events, vec![]).await;
    assert_eq!(receipt.events, vec![Acceptance::Accepted; COMMIT_EVENTS_MAX]);
    assert_eq!(load(&*store, fresh(10), COMMIT_EVENTS_MAX + 1).await.tickets, expected);
}

pub async fn an_empty_batch_changes_nothing(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![event(100, vec![owed(101, 10)])]).await;
    assert_eq!(commit(&*store, vec![], vec![]).await, Receipt::default());
    assert_eq!(rows(&*store).await, 1);
}

pub async fn a_new_store_is_empty_and_writable(harness: &dyn Harness) {
    let store = harness.open().await;
    store.writable().await.unwrap();
    let configuration = store.configuration().await.unwrap();
    assert!(configuration.accounts.is_empty() && configuration.destinations.is_empty());
    assert_eq!((configuration.id_floor, configuration.unclean_stop), (0, false));
    assert_eq!(store.lines().await.unwrap(), []);
    let line = postrider_core::delivery::Line { priority: Priority::Bulk, ..fresh(10) };
    let page = load(&*store, line, 10).await;
    assert!(page.tickets.is_empty() && page.end);
}
