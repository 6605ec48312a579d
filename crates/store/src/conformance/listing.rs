//! Lists of events: their order, their pages and every filter.

use super::Harness;
use super::sample::{
    ACCOUNT, DEAD, SOURCE, START, accept, accept_one, destination, event, finish, from, owed,
};
use super::sample::{received, seconds};
use crate::{
    Direction, EventContent, EventDetail, EventFilter, EventQuery, EventStatus, FanOut, NewEvent, Origin,
    Store,
};
use bytes::Bytes;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, EventId, SourceId, least_at};
use postrider_core::limits::SCAN_EVENTS_MAX;
use postrider_core::outcome::Next;
use postrider_core::pattern::EventPattern;
use std::sync::Arc;

fn only(filter: EventFilter) -> EventQuery {
    EventQuery { account: ACCOUNT, filter, after: None, limit: 100, offset: 0, fan_out: FanOut::All }
}

fn all() -> EventQuery {
    only(EventFilter::default())
}

/// The ids of a page, and how many match in all.
async fn list(store: &dyn Store, query: EventQuery) -> (Vec<u64>, u64) {
    let account = query.account;
    let page = store.events(query).await.unwrap();
    for item in &page.items {
        let alone = store.event(account, item.id).await.unwrap().unwrap();
        let listed = EventDetail { attempts: Vec::new(), ..alone };
        assert_eq!(&listed, item, "a list shows what the event alone shows, without its attempts");
    }
    (page.items.iter().map(|item| item.id.as_u64()).collect(), page.total)
}

pub async fn events_are_listed_newest_first_in_pages(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in 101..=110 {
        let received_at = START.after(seconds(id));
        accept(&*store, vec![received(received_at, event(id, vec![]))]).await;
    }
    assert_eq!(list(&*store, all()).await, ((101..=110).rev().collect(), 10));
    let page = |limit, offset| EventQuery { limit, offset, ..all() };
    assert_eq!(list(&*store, page(3, 0)).await, (vec![110, 109, 108], 10));
    assert_eq!(list(&*store, page(3, 8)).await, (vec![102, 101], 10));
    assert_eq!(list(&*store, page(3, 10)).await, (vec![], 10));
    assert_eq!(list(&*store, page(0, 0)).await, (vec![], 10));
}

pub async fn events_are_listed_by_source(harness: &dyn Harness) {
    let store = harness.open().await;
    let other = SourceId::from_u64(77);
    for id in 101..=106 {
        let origin = Origin::Source(if id % 3 == 0 { other } else { SOURCE });
        accept(&*store, vec![from(origin, event(id, vec![]))]).await;
    }
    let of = |source| only(EventFilter { source: Some(source), ..EventFilter::default() });
    assert_eq!(list(&*store, of(other)).await, (vec![105, 102], 2));
    assert_eq!(list(&*store, EventQuery { limit: 2, ..of(SOURCE) }).await, (vec![106, 104], 4));
    assert_eq!(list(&*store, of(SourceId::from_u64(78))).await, (vec![], 0));
}

pub async fn events_are_listed_by_status(harness: &dyn Harness) {
    let store = harness.open().await;
    let retry = Next::Retry { due: START.after(seconds(30)) };
    let ends = [None, Some(Next::Delivered), Some(retry), Some(DEAD)];
    for (id, end) in (100..180).step_by(10).zip(ends.iter().cycle()) {
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        if let Some(next) = end {
            finish(&*store, id + 2, ticket, *next).await;
        }
    }
    accept(&*store, vec![event(180, vec![])]).await;
    // An event stands where its least finished delivery does.
    let mixed = event(190, vec![owed(191, 10), owed(192, 11)]);
    accept(&*store, vec![mixed.clone()]).await;
    finish(&*store, 193, mixed.tickets().next().unwrap(), Next::Delivered).await;
    use DeliveryStatus as S;
    let rows: [(EventStatus, &[u64]); 6] = [
        (EventStatus::Accepted, &[180]),
        (EventStatus::Of(S::Queued), &[190, 140, 100]),
        (EventStatus::Of(S::Delivered), &[150, 110]),
        (EventStatus::Of(S::RetryScheduled), &[160, 120]),
        (EventStatus::Of(S::DeadLetter), &[170, 130]),
        (EventStatus::Of(S::Delivering), &[]),
    ];
    for (status, ids) in rows {
        let filter = EventFilter { status: Some(status), ..EventFilter::default() };
        assert_eq!(list(&*store, only(filter.clone())).await, (ids.to_vec(), ids.len() as u64), "{status:?}");
        let filter = EventFilter { source: Some(SOURCE), ..filter };
        let second = EventQuery { limit: 1, offset: 1, ..only(filter) };
        let expected = ids.iter().skip(1).take(1).copied().collect();
        assert_eq!(list(&*store, second).await, (expected, ids.len() as u64), "{status:?}");
    }
}

pub async fn another_account_sees_nothing(harness: &dyn Harness) {
    let store = harness.open().await;
    let other = AccountId::from_u64(99);
    let plain = event(110, vec![owed(111, 11)]);
    let content = EventContent { account: other, ..EventContent::clone(&plain.content) };
    let theirs = NewEvent { content: Arc::new(content), ..plain };
    accept(&*store, vec![event(100, vec![owed(101, 10)]), theirs]).await;
    let (ours, theirs) = (EventId::from_u64(100), EventId::from_u64(110));
    assert_eq!(store.event(other, ours).await.unwrap(), None);
    assert_eq!(store.event(ACCOUNT, theirs).await.unwrap(), None);
    assert!(store.event(other, theirs).await.unwrap().is_some());
    assert_eq!(list(&*store, all()).await, (vec![100], 1));
    assert_eq!(list(&*store, EventQuery { account: other, ..all() }).await, (vec![110], 1));
    let status = Some(EventStatus::Of(DeliveryStatus::Queued));
    let filter = EventFilter { status, source: Some(SOURCE), ..EventFilter::default() };
    let nobody = EventQuery { account: AccountId::from_u64(98), ..only(filter) };
    assert_eq!(list(&*store, nobody).await, (vec![], 0));
}

/// Reads page after page, each from where the one before ended.
async fn walk(store: &dyn Store, filter: &EventFilter, limit: usize) -> Vec<u64> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = store.events(EventQuery { after, limit, ..only(filter.clone()) }).await.unwrap();
        assert!(page.items.len() <= limit);
        ids.extend(page.items.iter().map(|item| item.id.as_u64()));
        match page.next {
            None => return ids,
            next => after = next,
        }
    }
}

pub async fn a_list_goes_on_where_it_ended(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in (100..200).step_by(10) {
        let origin = if id % 20 == 0 { Origin::Source(SOURCE) } else { Origin::Api(None) };
        accept(&*store, vec![from(origin, event(id, vec![owed(id + 1, 10)]))]).await;
    }
    let every: Vec<u64> = (10..20).rev().map(|tens| tens * 10).collect();
    let inbound = EventFilter { direction: Some(Direction::Inbound), ..EventFilter::default() };
    for limit in [1, 3, 5, 10, 11] {
        assert_eq!(walk(&*store, &EventFilter::default(), limit).await, every, "{limit}");
        assert_eq!(walk(&*store, &inbound, limit).await, [180, 160, 140, 120, 100], "{limit}");
    }
    let page = store.events(EventQuery { after: Some(EventId::from_u64(150)), ..all() }).await.unwrap();
    assert_eq!((page.items.len(), page.total, page.next), (5, 10, None), "the total is of all");
    let whole = store.events(only(inbound)).await.unwrap();
    assert_eq!((whole.total, whole.scanned, whole.cut), (5, 10, false));
}

/// An event of its own for each thing that a filter looks at.
async fn one_of_each(store: &dyn Store) -> Vec<NewEvent> {
    let at = |number: u64| START.after(seconds(60 * number));
    // Made as ids are, by the time, so that a store may look for a time among ids.
    let id = |number: u64| least_at(at(number));
    let plain =
        |number: u64, to: u64| received(at(number), event(id(number), vec![owed(id(number) + 1, to)]));
    let with = |event: NewEvent, change: &dyn Fn(&mut EventContent)| {
        let mut content = EventContent::clone(&event.content);
        change(&mut content);
        NewEvent { content: Arc::new(content), ..event }
    };
    let typed = |text: &str| Some(EventType::parse(text).unwrap());
    let untyped = with(plain(3, 10), &|content| content.event_type = None);
    let other = with(plain(2, 10), &|content| content.event_type = typed("payment.refunded"));
    let texts = with(plain(5, 10), &|content| content.body = Bytes::from("{\"name\":\"Zo\u{eb} 100%\"}"));
    let events = vec![
        plain(0, 10),
        plain(1, 11),
        other,
        untyped,
        NewEvent { external_id: Some("order-7".into()), ..from(Origin::Api(None), plain(4, 10)) },
        texts,
    ];
    accept(store, events.clone()).await;
    events
}

pub async fn an_event_of_long_ago_is_found_by_its_time_however_many_came_since(harness: &dyn Harness) {
    let store = harness.open().await;
    let (old, later) = (least_at(START), START.after(seconds(5)));
    accept(&*store, vec![event(old, vec![])]).await;
    let since = 0..=SCAN_EVENTS_MAX as u64;
    accept(&*store, since.map(|n| received(later, event(least_at(later) + n, vec![]))).collect()).await;
    let filter = EventFilter { until: Some(START.after(seconds(1))), ..EventFilter::default() };
    assert_eq!(list(&*store, only(filter)).await, (vec![old], 1));
}

pub async fn every_event_filter_leaves_out_what_it_should(harness: &dyn Harness) {
    let store = harness.open().await;
    let events = one_of_each(&*store).await;
    finish(&*store, least_at(START.after(seconds(600))), events[1].tickets().next().unwrap(), DEAD).await;
    let none = EventFilter::default();
    let pattern = |text: &str| Some(EventPattern::parse(text).unwrap());
    let text = |text: &str| EventFilter { text: Some(text.into()), ..none.clone() };
    let at = |number: u64| Some(START.after(seconds(60 * number)));
    let dead = Some(DeliveryStatus::DeadLetter);
    let rows: [(EventFilter, &[usize]); 17] = [
        (EventFilter { event_type: pattern("payment.captured"), ..none.clone() }, &[5, 4, 1, 0]),
        (EventFilter { event_type: pattern("payment.*"), ..none.clone() }, &[5, 4, 2, 1, 0]),
        (EventFilter { source: Some(SOURCE), ..none.clone() }, &[5, 3, 2, 1, 0]),
        (EventFilter { direction: Some(Direction::Outbound), ..none.clone() }, &[4]),
        (EventFilter { direction: Some(Direction::Inbound), ..none.clone() }, &[5, 3, 2, 1, 0]),
        (EventFilter { since: at(4), ..none.clone() }, &[5, 4]),
        (EventFilter { until: at(1), ..none.clone() }, &[0]),
        (EventFilter { since: at(1), until: at(3), ..none.clone() }, &[2, 1]),
        (EventFilter { external_id: Some("order-7".into()), ..none.clone() }, &[4]),
        (EventFilter { external_id: Some("order-".into()), ..none.clone() }, &[]),
        (EventFilter { destination: Some(destination(11)), ..none.clone() }, &[1]),
        (EventFilter { delivery_status: dead, ..none.clone() }, &[1]),
        (EventFilter { delivery_status: dead, destination: Some(destination(10)), ..none.clone() }, &[]),
        (EventFilter { direction: Some(Direction::Outbound), source: Some(SOURCE), ..none.clone() }, &[]),
        (text("Zo\u{eb} 100%"), &[5]),
        (text("%"), &[5]),
        (text("zo\u{eb}"), &[]),
    ];
    for (filter, expected) in rows {
        let ids: Vec<u64> = expected.iter().map(|index| events[*index].id.as_u64()).collect();
        let shown = format!("{filter:?}");
        assert_eq!(walk(&*store, &filter, 1).await, ids, "{shown}");
        let count = ids.len() as u64;
        assert_eq!(list(&*store, only(filter)).await, (ids, count), "{shown}");
    }
}
