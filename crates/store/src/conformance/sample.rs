//! What the tests commit: small events, their deliveries, and attempts with any end.

use crate::{
    Acceptance, Attempt, Batch, EventContent, EventDetail, Finished, Idempotency, NewDelivery, NewEvent,
    Origin, Page, Receipt, SendWindow, Store, Timing,
};
use bytes::Bytes;
use postrider_core::delivery::{Lane, Line, Priority, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::{DeathReason, Next, Outcome};
use postrider_core::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

pub(super) const ACCOUNT: AccountId = AccountId::from_u64(1);
pub(super) const SOURCE: SourceId = SourceId::from_u64(2);
pub(super) const ROUTE: RouteId = RouteId::from_u64(3);
/// 2026-01-15T08:00:00Z: when the samples begin.
pub(super) const START: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

/// Length of the body of an event with a number of three digits.
pub(super) const BODY_BYTES: u64 = 14;

pub(super) fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(super) const fn destination(number: u64) -> DestinationId {
    DestinationId::from_u64(number)
}

pub(super) fn fresh(to: u64) -> Line {
    Line { destination: destination(to), priority: Priority::Normal, lane: Lane::Fresh }
}

pub(super) fn retry(to: u64) -> Line {
    Line { lane: Lane::Retry, ..fresh(to) }
}

/// A delivery of normal priority.
pub(super) fn owed(id: u64, to: u64) -> NewDelivery {
    let id = DeliveryId::from_u64(id);
    NewDelivery { id, destination: destination(to), route: ROUTE, priority: Priority::Normal, order: None }
}

/// An event of the account and source of the samples, received at [`START`].
pub(super) fn event(id: u64, deliveries: Vec<NewDelivery>) -> NewEvent {
    NewEvent {
        id: EventId::from_u64(id),
        external_id: None,
        content: Arc::new(EventContent {
            account: ACCOUNT,
            origin: Origin::Source(SOURCE),
            headers: [("content-type", "application/json")].into_iter().collect(),
            body: Bytes::from(format!("{{\"number\":{id}}}")),
            event_type: Some(EventType::parse("payment.captured").unwrap()),
            received_at: START,
            window: SendWindow::default(),
            replay_of: None,
        }),
        idempotency: None,
        deliveries,
    }
}

/// The same event, received at another time.
pub(super) fn received(at: Timestamp, event: NewEvent) -> NewEvent {
    let content = Arc::new(EventContent { received_at: at, ..EventContent::clone(&event.content) });
    NewEvent { content, ..event }
}

/// The same event, from elsewhere.
pub(super) fn from(origin: Origin, event: NewEvent) -> NewEvent {
    let content = Arc::new(EventContent { origin, ..EventContent::clone(&event.content) });
    NewEvent { content, ..event }
}

/// An event with an idempotency key and a body.
pub(super) fn keyed(id: u64, key: u8, body: u8) -> NewEvent {
    let idempotency = Some(Idempotency { key_hash: [key; 16], body_hash: [body; 16] });
    NewEvent { idempotency, ..event(id, vec![owed(id + 1, 10)]) }
}

/// An attempt of a delivery, with its place in the queue and what follows.
pub(super) fn finished(id: u64, ticket: Ticket, next: Next) -> Finished {
    let (outcome, status) = match next {
        Next::Delivered => (Outcome::Success, 200),
        Next::Retry { .. } | Next::Dead(_) => (Outcome::Http5xx, 503),
    };
    let attempt = Attempt {
        id: AttemptId::from_u64(id),
        delivery: ticket.delivery,
        event: ticket.event,
        destination: ticket.line.destination,
        number: ticket.attempts + 1,
        started_at: ticket.due,
        outcome,
        status: Some(status),
        request_headers: Default::default(),
        response_headers: Default::default(),
        response_body: Bytes::new(),
        problem: None,
        timing: Timing { total: Duration::from_millis(20), ..Timing::default() },
        next,
    };
    Finished { account: ACCOUNT, ticket, attempt, blocks_line: false }
}

/// The end of a delivery after all its attempts.
pub(super) const DEAD: Next = Next::Dead(DeathReason::Attempts);

/// Accepts events, all of which are new.
pub(super) async fn accept(store: &dyn Store, events: Vec<NewEvent>) {
    let count = events.len();
    let receipt = commit(store, events, Vec::new()).await;
    assert_eq!(receipt.events, vec![Acceptance::Accepted; count]);
}

/// Accepts one event and gives its only ticket.
pub(super) async fn accept_one(store: &dyn Store, event: NewEvent) -> Ticket {
    let ticket = event.tickets().next().unwrap();
    accept(store, vec![event]).await;
    ticket
}

/// Commits what became of an attempt.
pub(super) async fn finish(store: &dyn Store, id: u64, ticket: Ticket, next: Next) {
    commit(store, Vec::new(), vec![finished(id, ticket, next)]).await;
}

pub(super) async fn commit(store: &dyn Store, events: Vec<NewEvent>, finished: Vec<Finished>) -> Receipt {
    store.commit(Arc::new(Batch { events, finished, ..Batch::default() })).await.unwrap()
}

pub(super) async fn load(store: &dyn Store, line: Line, limit: usize) -> Page {
    store.load(line, limit).await.unwrap()
}

/// Everything that waits in a line.
pub(super) async fn waiting(store: &dyn Store, line: Line) -> Vec<Ticket> {
    let page = load(store, line, 10_000).await;
    assert!(page.end, "no test owes so much");
    page.tickets
}

/// How much is owed in all.
pub(super) async fn rows(store: &dyn Store) -> u64 {
    store.lines().await.unwrap().iter().map(|line| line.rows).sum()
}

/// An event of the samples' account with what became of it.
pub(super) async fn detail(store: &dyn Store, event: EventId) -> EventDetail {
    store.event(ACCOUNT, event).await.unwrap().unwrap()
}
