//! What was given up on: how it is listed and discarded.

use super::Harness;
use super::sample::{
    ACCOUNT, BODY_BYTES, DEAD, ROUTE, SOURCE, START, accept, accept_one, destination, detail, event, finish,
    finished, owed, rows, seconds, waiting,
};
use crate::OwedAgain;
use crate::{
    Attempt, Batch, DeadLetter, DeadLetterFilter, DeadLetterKey, DeadLetterOrder, DeadLetterPage,
    DeadLetterQuery, Discarded, ErrorKind, EventContent, Finished, NewDelivery, NewEvent, Origin, Problem,
    Store,
};
use postrider_core::delivery::{DeliveryStatus, Line, OrderKey, Priority, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, EventId, SourceId};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;
use std::sync::Arc;

/// All that match, newest first, read in small pages.
pub(super) async fn listed(store: &dyn Store, filter: DeadLetterFilter) -> Vec<DeadLetter> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let order = DeadLetterOrder::NewestFirst;
        let query = DeadLetterQuery { account: ACCOUNT, filter: filter.clone(), order, after, limit: 2 };
        let page = store.dead_letters(query).await.unwrap();
        assert!(page.items.len() <= 2);
        all.extend(page.items);
        match page.next {
            None => return all,
            next => after = next,
        }
    }
}

pub(super) async fn everything(store: &dyn Store) -> Vec<DeadLetter> {
    listed(store, DeadLetterFilter::default()).await
}

pub(super) fn key(event: u64, delivery: u64) -> DeadLetterKey {
    DeadLetterKey { event: EventId::from_u64(event), delivery: DeliveryId::from_u64(delivery) }
}

/// Makes the event `id`, whose delivery `id + 1` to destination 10 dies by its attempt `id + 2`, some seconds later.
pub(super) async fn dies(store: &dyn Store, id: u64, after_seconds: u64) -> Ticket {
    let ticket = accept_one(store, event(id, vec![owed(id + 1, 10)])).await;
    let late = Ticket { due: START.after(seconds(after_seconds)), ..ticket };
    let attempt = Attempt { started_at: late.due, ..finished(id + 2, ticket, DEAD).attempt };
    commit(store, Finished { attempt, ..finished(id + 2, ticket, DEAD) }).await;
    ticket
}

pub(super) async fn commit(store: &dyn Store, finished: Finished) {
    store.commit(Arc::new(Batch { finished: vec![finished], ..Batch::default() })).await.unwrap();
}

/// An event with a delivery to destination 10 that is ordered by a key.
pub(super) fn ordered(id: u64, key: u64) -> NewEvent {
    event(id, vec![NewDelivery { order: Some(OrderKey::from_u64(key)), ..owed(id + 1, 10) }])
}

pub(super) fn line(key: u64) -> Line {
    Line::first(destination(10), Priority::Normal, Some(OrderKey::from_u64(key)))
}

/// The head of a line that is given up on and blocks it.
pub(super) async fn blocks(store: &dyn Store, id: u64, order: u64) -> Ticket {
    let head = accept_one(store, ordered(id, order)).await;
    commit(store, Finished { blocks_line: true, ..finished(id + 2, head, DEAD) }).await;
    head
}

fn ids(letters: &[DeadLetter]) -> Vec<u64> {
    letters.iter().map(|letter| letter.event.as_u64()).collect()
}

async fn discard(store: &dyn Store, keys: &[DeadLetterKey]) -> Discarded {
    store.discard(ACCOUNT, keys.to_vec(), START.after(seconds(99))).await.unwrap()
}

pub async fn a_dead_letter_tells_all_that_is_known_of_its_end(harness: &dyn Harness) {
    let store = harness.open().await;
    let new = event(100, vec![NewDelivery { priority: Priority::High, ..owed(101, 10) }]);
    let ticket = accept_one(&*store, new).await;
    let mut last = finished(102, Ticket { attempts: 4, ..ticket }, Next::Dead(DeathReason::Age));
    last.attempt.problem = Some(Problem { kind: ErrorKind::Status, sentence: "It said 503.".into() });
    commit(&*store, last.clone()).await;
    let expected = DeadLetter {
        delivery: ticket.delivery,
        event: ticket.event,
        account: ACCOUNT,
        destination: destination(10),
        route: ROUTE,
        source: Some(SOURCE),
        event_type: Some(EventType::parse("payment.captured").unwrap()),
        priority: Priority::High,
        order: None,
        attempts: 5,
        bytes: u32::try_from(BODY_BYTES).unwrap(),
        reason: DeathReason::Age,
        last_error: Some("It said 503.".into()),
        died_at: last.attempt.started_at.after(last.attempt.timing.total),
    };
    assert_eq!(everything(&*store).await, [expected]);
}

pub async fn there_is_one_dead_letter_however_often_its_end_is_told(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = dies(&*store, 100, 0).await;
    finish(&*store, 102, ticket, DEAD).await;
    let blocked = blocks(&*store, 110, 7).await;
    commit(&*store, Finished { blocks_line: true, ..finished(112, blocked, DEAD) }).await;
    assert_eq!(ids(&everything(&*store).await), [110, 100]);
    assert_eq!(rows(&*store).await, 1, "the one that blocks its line");
}

pub async fn dead_letters_are_listed_both_ways_in_pages(harness: &dyn Harness) {
    let store = harness.open().await;
    // The third and the fourth at the same time.
    for (id, died) in [(100, 50), (110, 10), (120, 30), (130, 30), (140, 20)] {
        dies(&*store, id, died).await;
    }
    let page = async |order, after, limit| -> DeadLetterPage {
        let filter = DeadLetterFilter::default();
        store.dead_letters(DeadLetterQuery { account: ACCOUNT, filter, order, after, limit }).await.unwrap()
    };
    for (order, expected) in [
        (DeadLetterOrder::NewestFirst, [100, 130, 120, 140, 110]),
        (DeadLetterOrder::OldestFirst, [110, 140, 120, 130, 100]),
    ] {
        let all = page(order, None, 5).await;
        assert_eq!((ids(&all.items), all.next), (expected.to_vec(), None), "{order:?}");
        let first = page(order, None, 3).await;
        assert_eq!(ids(&first.items), expected[..3]);
        let rest = page(order, first.next, 3).await;
        assert_eq!((ids(&rest.items), rest.next), (expected[3..].to_vec(), None), "{order:?}");
    }
}

pub async fn every_filter_leaves_out_what_it_should(harness: &dyn Harness) {
    let store = harness.open().await;
    dies(&*store, 100, 10).await;
    let mut other = event(110, vec![owed(111, 11)]);
    other.content = Arc::new(EventContent {
        origin: Origin::Source(SourceId::from_u64(77)),
        event_type: Some(EventType::parse("order.created.late").unwrap()),
        ..EventContent::clone(&other.content)
    });
    let ticket = accept_one(&*store, other).await;
    let mut end = finished(112, ticket, Next::Dead(DeathReason::FinalAnswer));
    end.attempt.started_at = START.after(seconds(20));
    commit(&*store, end).await;
    let died = |letter: &DeadLetter| letter.died_at;
    let newest = died(&everything(&*store).await[0]);
    let just_after = newest.after(std::time::Duration::from_millis(1));
    let pattern = |text| Some(EventPattern::parse(text).unwrap());
    let all = DeadLetterFilter::default();
    for (filter, expected) in [
        (all.clone(), vec![110, 100]),
        (DeadLetterFilter { destination: Some(destination(11)), ..all.clone() }, vec![110]),
        (DeadLetterFilter { destination: Some(destination(12)), ..all.clone() }, vec![]),
        (DeadLetterFilter { source: Some(SOURCE), ..all.clone() }, vec![100]),
        (DeadLetterFilter { reason: Some(DeathReason::FinalAnswer), ..all.clone() }, vec![110]),
        (DeadLetterFilter { event_type: pattern("order.**"), ..all.clone() }, vec![110]),
        (DeadLetterFilter { event_type: pattern("payment.captured"), ..all.clone() }, vec![100]),
        (DeadLetterFilter { event_type: pattern("order.*"), ..all.clone() }, vec![]),
        (DeadLetterFilter { since: Some(newest), ..all.clone() }, vec![110]),
        (DeadLetterFilter { since: Some(just_after), ..all.clone() }, vec![]),
        (DeadLetterFilter { until: Some(newest), ..all.clone() }, vec![100]),
        (DeadLetterFilter { until: Some(just_after), ..all.clone() }, vec![110, 100]),
        (DeadLetterFilter { since: Some(START), until: Some(Timestamp::MAX), ..all.clone() }, vec![110, 100]),
    ] {
        assert_eq!(ids(&listed(&*store, filter.clone()).await), expected, "{filter:?}");
    }
}

pub async fn named_dead_letters_are_found(harness: &dyn Harness) {
    let store = harness.open().await;
    for (id, died) in [(100, 10), (110, 20), (120, 30), (130, 40)] {
        dies(&*store, id, died).await;
    }
    accept(&*store, vec![event(140, vec![owed(141, 10)])]).await;
    let named = |ids: &[u64]| Some(ids.iter().map(|id| DeliveryId::from_u64(*id)).collect());
    let filter = DeadLetterFilter { deliveries: named(&[101, 121, 131, 141, 999]), ..Default::default() };
    assert_eq!(ids(&listed(&*store, filter.clone()).await), [130, 120, 100]);
    let filter = DeadLetterFilter { until: Some(START.after(seconds(35))), ..filter };
    assert_eq!(ids(&listed(&*store, filter).await), [120, 100]);
}

pub async fn another_account_has_none_of_them(harness: &dyn Harness) {
    let store = harness.open().await;
    dies(&*store, 100, 0).await;
    let other = AccountId::from_u64(999);
    for deliveries in [None, Some(vec![DeliveryId::from_u64(101)])] {
        let filter = DeadLetterFilter { deliveries, ..Default::default() };
        let order = DeadLetterOrder::NewestFirst;
        let query = DeadLetterQuery { account: other, filter, order, after: None, limit: 10 };
        assert_eq!(store.dead_letters(query).await.unwrap(), DeadLetterPage::default());
    }
    assert_eq!(store.discard(other, vec![key(100, 101)], START).await.unwrap(), Discarded::default());
    let revival = crate::Revival { key: key(100, 101), order: None };
    assert_eq!(store.revive(other, vec![revival], START).await.unwrap(), OwedAgain::default());
    assert_eq!((everything(&*store).await.len(), rows(&*store).await), (1, 0));
}

pub async fn a_discarded_dead_letter_is_in_no_list_and_stays_given_up_on(harness: &dyn Harness) {
    let store = harness.open().await;
    dies(&*store, 100, 10).await;
    dies(&*store, 110, 20).await;
    let keys = [key(100, 101), key(100, 101), key(500, 501)];
    assert_eq!(discard(&*store, &keys).await, Discarded { count: 1, unblocked: vec![] });
    assert_eq!(discard(&*store, &keys).await.count, 0, "once");
    drop(store);
    let store = harness.open().await;
    assert_eq!(ids(&everything(&*store).await), [110]);
    let named = Some(vec![DeliveryId::from_u64(101)]);
    let named = DeadLetterFilter { deliveries: named, ..DeadLetterFilter::default() };
    assert_eq!(listed(&*store, named).await, []);
    let state = &detail(&*store, EventId::from_u64(100)).await.deliveries[0];
    assert_eq!((state.status, state.reason), (DeliveryStatus::DeadLetter, Some(DeathReason::Attempts)));
    let revival = crate::Revival { key: key(100, 101), order: None };
    assert_eq!(store.revive(ACCOUNT, vec![revival], START).await.unwrap(), OwedAgain::default());
    assert_eq!(rows(&*store).await, 0);
}

pub async fn discarding_a_blocked_head_frees_its_line(harness: &dyn Harness) {
    let store = harness.open().await;
    let head = blocks(&*store, 100, 7).await;
    let next = accept_one(&*store, ordered(110, 7)).await;
    let blocked = Ticket { due: Timestamp::MAX, attempts: 1, ..head };
    let keys = [key(100, 101)];
    assert_eq!(discard(&*store, &keys).await, Discarded { count: 1, unblocked: vec![blocked] });
    assert_eq!(waiting(&*store, line(7)).await, [next]);
}

pub async fn a_blocked_head_of_a_deleted_destination_keeps_its_reason(harness: &dyn Harness) {
    let store = harness.open().await;
    blocks(&*store, 100, 7).await;
    accept(&*store, vec![ordered(110, 7)]).await;
    let buried = store.bury(destination(10), START.after(seconds(60)), 100).await.unwrap();
    assert_eq!((buried, rows(&*store).await), (2, 0));
    let reasons: Vec<DeathReason> = everything(&*store).await.iter().map(|letter| letter.reason).collect();
    assert_eq!(reasons, [DeathReason::DestinationDeleted, DeathReason::Attempts]);
}
