//! Lists of events that are owed to very many.

use super::Harness;
use super::sample::{ACCOUNT, START, accept, destination, event, finish, owed, seconds};
use crate::{EventFilter, EventQuery, EventStatus, FanOut, NewEvent};
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{DeliveryId, EventId};
use postrider_core::limits::{EVENT_DELIVERIES_SHOWN_MAX, LIST_DELIVERIES_MAX};
use postrider_core::outcome::Next;
use postrider_core::pattern::EventPattern;
use std::sync::Arc;

/// Owed to so many destinations, from 1 on.
fn fan_out(id: u64, count: u64) -> NewEvent {
    event(id, (1..=count).map(|number| owed(id + number, number)).collect())
}

fn query(filter: EventFilter, fan_out: FanOut) -> EventQuery {
    EventQuery { account: ACCOUNT, filter, after: None, limit: 10, offset: 0, fan_out }
}

fn in_flight(ids: &[u64]) -> FanOut {
    FanOut::First(Arc::new(ids.iter().map(|id| DeliveryId::from_u64(*id)).collect()))
}

pub async fn a_list_shows_the_first_deliveries_and_what_the_others_come_to(harness: &dyn Harness) {
    let store = harness.open().await;
    let (shown, all) = (EVENT_DELIVERIES_SHOWN_MAX, EVENT_DELIVERIES_SHOWN_MAX as u64 + 4);
    let large = fan_out(1000, all);
    accept(&*store, vec![large.clone()]).await;
    let due = START.after(seconds(30));
    for (number, ticket) in large.tickets().enumerate() {
        let next = if number + 1 == all as usize { Next::Retry { due } } else { Next::Delivered };
        finish(&*store, 2000 + number as u64, ticket, next).await;
    }
    let last = 1000 + all;
    let asked = [
        (FanOut::All, 24, 0, DeliveryStatus::RetryScheduled),
        (in_flight(&[]), shown, 4, DeliveryStatus::RetryScheduled),
        (in_flight(&[last]), shown, 4, DeliveryStatus::Delivering),
        // What has ended by what the store knows is not in flight.
        (in_flight(&[last - 1]), shown, 4, DeliveryStatus::RetryScheduled),
    ];
    for (asked, shown, left_out, status) in asked {
        let label = format!("{asked:?}");
        let page = store.events(query(EventFilter::default(), asked)).await.unwrap();
        let event = &page.items[0];
        assert_eq!((event.deliveries.len(), event.left_out.count), (shown, left_out), "{label}");
        assert_eq!(EventStatus::of(event), EventStatus::Of(status), "{label}");
        let attempts: u32 = event.deliveries.iter().map(|delivery| delivery.attempts).sum();
        assert_eq!(u64::from(attempts) + event.left_out.attempts, all, "{label}");
        let retried = status == DeliveryStatus::RetryScheduled;
        assert_eq!(event.left_out.next_attempt_at, Some(due).filter(|_| left_out > 0 && retried), "{label}");
    }
    let filter = EventFilter { destination: Some(destination(all)), ..EventFilter::default() };
    let page = store.events(query(filter, in_flight(&[]))).await.unwrap();
    assert_eq!(page.items[0].deliveries[0].id, DeliveryId::from_u64(last), "what is asked for is shown");
}

pub async fn very_large_fan_outs_are_listed_in_small_steps(harness: &dyn Harness) {
    let store = harness.open().await;
    let each = LIST_DELIVERIES_MAX as u64 / 3 + 1;
    let ids = [40_000_000, 30_000_000, 20_000_000, 10_000_000];
    for id in ids.into_iter().rev() {
        accept(&*store, vec![fan_out(id, each)]).await;
    }
    let typed = EventPattern::parse("payment.*").unwrap();
    let queued = Some(EventStatus::Of(DeliveryStatus::Queued));
    let none = EventFilter::default();
    for filter in [
        EventFilter { event_type: Some(typed), ..none.clone() },
        EventFilter { status: queued, ..none.clone() },
        none,
    ] {
        let page = store.events(query(filter.clone(), in_flight(&[]))).await.unwrap();
        let found: Vec<u64> = page.items.iter().map(|event| event.id.as_u64()).collect();
        assert_eq!((found.as_slice(), page.total, page.next), (ids.as_slice(), 4, None), "{filter:?}");
        // With all their deliveries they are too many for a page.
        let after = Some(EventId::from_u64(50_000_000));
        let page = store.events(EventQuery { after, ..query(filter.clone(), FanOut::All) }).await.unwrap();
        assert_eq!((page.items.len(), page.next.map(EventId::as_u64)), (3, Some(ids[2])), "{filter:?}");
        let rest = store.events(EventQuery { after: page.next, ..query(filter, FanOut::All) }).await.unwrap();
        assert_eq!((rest.items.len(), rest.next), (1, None));
        assert_eq!(rest.items[0].deliveries.len() as u64, each);
    }
}
