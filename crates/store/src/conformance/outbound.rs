//! Events that are sent through the API, and those that are to be sent later.

use super::Harness;
use super::sample::{ACCOUNT, DEAD, START, accept, accept_one, commit, destination, detail, event, finish};
use super::sample::{fresh, from, keyed, owed, received, seconds, waiting};
use crate::{Acceptance, DeadLetterFilter, EventContent, NewDelivery, NewEvent, Origin, SendWindow};
use postrider_core::delivery::{DeliveryStatus, Line, OrderKey, Priority};
use postrider_core::id::{AccountId, ApiKeyId, EventId};
use std::sync::Arc;

const KEY: ApiKeyId = ApiKeyId::from_u64(4);

fn windowed(window: SendWindow, event: NewEvent) -> NewEvent {
    let content = EventContent { window, ..EventContent::clone(&event.content) };
    NewEvent { content: Arc::new(content), ..event }
}

fn delayed(seconds_ahead: u64, event: NewEvent) -> NewEvent {
    let deliver_at = Some(START.after(seconds(seconds_ahead)));
    windowed(SendWindow { deliver_at, expires_at: None }, event)
}

pub async fn an_event_tells_where_it_comes_from(harness: &dyn Harness) {
    let store = harness.open().await;
    for (id, origin) in [(100, Origin::Api(Some(KEY))), (110, Origin::Api(None))] {
        let new = from(origin, event(id, vec![owed(id + 1, 10)]));
        let ticket = accept_one(&*store, new).await;
        assert_eq!(detail(&*store, ticket.event).await.content.origin, origin);
        finish(&*store, id + 2, ticket, DEAD).await;
        let letters = super::dead_letters::listed(&*store, DeadLetterFilter::default()).await;
        assert_eq!(letters[0].source, None, "there is no source to tell");
    }
}

/// By whichever key of the account, and apart from its sources and from other accounts.
pub async fn a_key_of_the_api_is_known_in_its_account_only(harness: &dyn Harness) {
    let store = harness.open().await;
    let sent = |id, body, key| from(Origin::Api(key), keyed(id, 7, body));
    accept(&*store, vec![keyed(100, 7, 1), sent(110, 2, Some(KEY))]).await;
    let plain = sent(120, 3, None);
    let content = EventContent { account: AccountId::from_u64(99), ..EventContent::clone(&plain.content) };
    accept(&*store, vec![NewEvent { content: Arc::new(content), ..plain }]).await;
    let offers = vec![sent(130, 2, None), sent(140, 1, Some(KEY)), keyed(150, 7, 1)];
    let receipt = commit(&*store, offers, vec![]).await;
    let (first, by_api) = (EventId::from_u64(100), EventId::from_u64(110));
    use Acceptance::{Conflict, Duplicate};
    assert_eq!(receipt.events, [Duplicate(by_api), Conflict(by_api), Duplicate(first)]);
}

pub async fn a_window_comes_back_with_its_event(harness: &dyn Harness) {
    let store = harness.open().await;
    let times = [None, Some(START.after(seconds(60)))];
    for (id, (deliver_at, expires_at)) in
        (100..).step_by(10).zip(times.iter().flat_map(|from| times.iter().map(|to| (*from, *to))))
    {
        let window = SendWindow { deliver_at, expires_at };
        let new = windowed(window, event(id, vec![]));
        accept(&*store, vec![new.clone()]).await;
        assert_eq!(store.content(new.id).await.unwrap().unwrap().window, window);
        assert_eq!(detail(&*store, new.id).await.content.window, window);
    }
}

pub async fn a_delayed_delivery_is_due_then_and_waits_in_its_place(harness: &dyn Harness) {
    let mut store = harness.open().await;
    let later = START.after(seconds(90));
    let events = vec![
        delayed(120, event(100, vec![owed(101, 10)])),
        event(110, vec![owed(111, 10)]),
        delayed(60, event(120, vec![owed(121, 10)])),
        received(later, event(130, vec![owed(131, 10)])),
    ];
    accept(&*store, events.clone()).await;
    for _ in 0..2 {
        let order: Vec<_> =
            waiting(&*store, fresh(10)).await.iter().map(|row| (row.delivery.as_u64(), row.due)).collect();
        let due = |ahead| START.after(seconds(ahead));
        assert_eq!(order, [(111, START), (121, due(60)), (131, later), (101, due(120))]);
        drop(store);
        store = harness.open().await;
    }
    let state = detail(&*store, EventId::from_u64(100)).await.deliveries[0].clone();
    assert_eq!(
        (state.status, state.next_attempt_at),
        (DeliveryStatus::Queued, Some(START.after(seconds(120))))
    );
    let past = windowed(
        SendWindow { deliver_at: Some(START), expires_at: None },
        received(later, events[1].clone()),
    );
    assert_eq!(past.tickets().next().unwrap().due, later, "what is past is due at once");
}

/// A page of a line is its first rows, wherever older and newer events are kept.
pub async fn a_page_begins_with_what_is_due_first(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in (100..150).step_by(10) {
        accept(&*store, vec![delayed(86_400, event(id, vec![owed(id + 1, 10)]))]).await;
    }
    store.maintain(START).await.unwrap();
    store.maintain(START.after(seconds(2 * 86_400))).await.unwrap();
    accept(&*store, vec![event(200, vec![owed(201, 10)]), event(210, vec![owed(211, 10)])]).await;
    let page = store.load(fresh(10), 3).await.unwrap();
    let ids: Vec<u64> = page.tickets.iter().map(|row| row.delivery.as_u64()).collect();
    assert_eq!((ids, page.end), (vec![201, 211, 101], false));
}

pub async fn an_ordered_delivery_keeps_its_place_when_it_is_delayed(harness: &dyn Harness) {
    let store = harness.open().await;
    let key = Some(OrderKey::from_u64(7));
    let ordered = |id| event(id, vec![NewDelivery { order: key, ..owed(id + 1, 10) }]);
    accept(&*store, vec![delayed(600, ordered(100)), ordered(110)]).await;
    let line = Line::first(destination(10), Priority::Normal, key);
    let order: Vec<_> =
        waiting(&*store, line).await.iter().map(|row| (row.delivery.as_u64(), row.due)).collect();
    assert_eq!(order, [(101, START.after(seconds(600))), (111, START)]);
    assert_eq!(store.event(ACCOUNT, EventId::from_u64(100)).await.unwrap().unwrap().deliveries.len(), 1);
}
