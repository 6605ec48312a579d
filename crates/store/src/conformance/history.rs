//! Reading what became of events.

use super::Harness;
use super::sample::{ACCOUNT, DEAD, SOURCE, START, accept, accept_one, commit, detail, event, finish};
use super::sample::{finished, fresh, owed, received, rows, seconds, waiting};
use crate::{Attempt, ErrorKind, EventContent, EventQuery, EventStatus, NewEvent, Problem, Store, Timing};
use bytes::Bytes;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{AccountId, EventId, SourceId};
use postrider_core::outcome::{DeathReason, Next, Outcome};
use std::sync::Arc;
use std::time::Duration;

const ALL: EventQuery =
    EventQuery { account: ACCOUNT, source: None, status: None, limit: 100, offset: 0, before: None };

/// The ids of a page, and how many match in all.
async fn list(store: &dyn Store, query: EventQuery) -> (Vec<u64>, u64) {
    let page = store.events(query).await.unwrap();
    for item in &page.items {
        let alone = store.event(query.account, item.id).await.unwrap();
        assert_eq!(alone.as_ref(), Some(item), "a list shows what the event alone shows");
    }
    (page.items.iter().map(|item| item.id.as_u64()).collect(), page.total)
}

pub async fn an_attempt_comes_back_with_every_field(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    let due = START.after(Duration::from_millis(30_001));
    let mut outcome = finished(102, ticket, Next::Retry { due });
    outcome.attempt = Attempt {
        started_at: START.after(Duration::from_millis(7)),
        outcome: Outcome::Http4xx,
        status: Some(429),
        request_headers: [("webhook-id", "evt_1"), ("authorization", "redacted")].into_iter().collect(),
        response_headers: [("Set-Cookie", "b"), ("Set-Cookie", "a"), ("x", "")].into_iter().collect(),
        response_body: (0..=255).rev().collect(),
        problem: Some(Problem {
            kind: ErrorKind::Status,
            sentence: "The receiver answered 429 – zu viel".into(),
        }),
        timing: Timing {
            dns: Some(Duration::from_micros(1)),
            connect: Some(Duration::ZERO),
            tls: None,
            first_byte: Some(Duration::from_micros(1_234_567)),
            total: Duration::from_micros(119_999_999),
        },
        ..outcome.attempt
    };
    let expected = outcome.attempt.clone();
    commit(&*store, vec![], vec![outcome]).await;
    assert_eq!(detail(&*store, ticket.event).await.attempts, [expected]);
}

pub async fn every_outcome_and_every_problem_comes_back(harness: &dyn Harness) {
    let store = harness.open().await;
    use ErrorKind as K;
    let kinds = [K::AddressRefused, K::Dns, K::Connect, K::Tls, K::Disconnected, K::BadResponse, K::Status];
    let kinds = kinds.into_iter().chain([K::Timeout, K::BadRequest, K::Internal]);
    use Outcome as O;
    let outcomes = [O::Success, O::Timeout, O::NetworkError, O::Http4xx, O::Http5xx, O::Cancelled];
    let reasons = [DeathReason::Attempts, DeathReason::Age, DeathReason::FinalAnswer];
    let mut expected = Vec::new();
    for (index, kind) in kinds.enumerate() {
        let id = 1000 + 10 * index as u64;
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        let mut outcome = finished(id + 2, ticket, Next::Dead(reasons[index % reasons.len()]));
        outcome.attempt.outcome = outcomes[index % outcomes.len()];
        outcome.attempt.status = None;
        outcome.attempt.problem = Some(Problem { kind, sentence: String::new() });
        expected.push(outcome.attempt.clone());
        commit(&*store, vec![], vec![outcome]).await;
    }
    for attempt in expected {
        assert_eq!(detail(&*store, attempt.event).await.attempts, [attempt]);
    }
}

/// Attempts to several destinations end in another order than they began.
pub async fn attempts_are_listed_oldest_first(harness: &dyn Harness) {
    let store = harness.open().await;
    let wide = event(100, vec![owed(101, 10), owed(102, 11), owed(103, 12)]);
    accept(&*store, vec![wide.clone(), event(104, vec![owed(105, 10)])]).await;
    let tickets: Vec<_> = wide.tickets().collect();
    for (id, ticket) in [(203, tickets[0]), (201, tickets[1]), (202, tickets[2])] {
        let mut outcome = finished(id, ticket, Next::Delivered);
        outcome.attempt.started_at = START.after(seconds(id));
        commit(&*store, vec![], vec![outcome]).await;
    }
    let seen = detail(&*store, wide.id).await;
    assert_eq!(seen.attempts.iter().map(|attempt| attempt.id.as_u64()).collect::<Vec<_>>(), [201, 202, 203]);
    assert!(detail(&*store, EventId::from_u64(104)).await.attempts.is_empty(), "not those of its neighbour");
}

pub async fn events_are_listed_newest_first_in_pages(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in 101..=110 {
        let received_at = START.after(seconds(id));
        accept(&*store, vec![received(received_at, event(id, vec![]))]).await;
    }
    assert_eq!(list(&*store, ALL).await, ((101..=110).rev().collect(), 10));
    let page = |limit, offset| EventQuery { limit, offset, ..ALL };
    assert_eq!(list(&*store, page(3, 0)).await, (vec![110, 109, 108], 10));
    assert_eq!(list(&*store, page(3, 8)).await, (vec![102, 101], 10));
    assert_eq!(list(&*store, page(3, 10)).await, (vec![], 10));
    assert_eq!(list(&*store, page(0, 0)).await, (vec![], 10));
}

pub async fn pages_follow_each_other_by_their_place(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in [100, 102, 104, 106, 108] {
        accept(&*store, vec![event(id, if id < 108 { vec![owed(id + 1, 10)] } else { vec![] })]).await;
    }
    let queued = Some(EventStatus::Of(DeliveryStatus::Queued));
    for (status, pages) in [
        (None, vec![vec![108, 106], vec![104, 102], vec![100]]),
        (queued, vec![vec![106, 104], vec![102, 100]]),
    ] {
        let mut query = EventQuery { limit: 2, status, before: Some(EventId::from_u64(150)), ..ALL };
        for (index, expected) in pages.iter().enumerate() {
            let page = store.events(query).await.unwrap();
            let ids: Vec<u64> = page.items.iter().map(|item| item.id.as_u64()).collect();
            assert_eq!(&ids, expected, "{status:?}");
            assert_eq!(page.next.is_none(), index + 1 == pages.len(), "{status:?} after {ids:?}");
            // What comes in meanwhile is newer and moves nothing.
            let newer = 200 + 10 * index as u64 + u64::from(status.is_some());
            accept(&*store, vec![event(newer, vec![owed(newer + 1, 10)])]).await;
            query.before = page.next;
        }
    }
}

pub async fn events_are_listed_by_source(harness: &dyn Harness) {
    let store = harness.open().await;
    let other = SourceId::from_u64(77);
    for id in 101..=106 {
        let source = if id % 3 == 0 { other } else { SOURCE };
        accept(&*store, vec![NewEvent { source, ..event(id, vec![]) }]).await;
    }
    let of = |source| EventQuery { source: Some(source), ..ALL };
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
        let query = EventQuery { status: Some(status), ..ALL };
        assert_eq!(list(&*store, query).await, (ids.to_vec(), ids.len() as u64), "{status:?}");
        let second = EventQuery { limit: 1, offset: 1, source: Some(SOURCE), ..query };
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
    assert_eq!(list(&*store, ALL).await, (vec![100], 1));
    assert_eq!(list(&*store, EventQuery { account: other, ..ALL }).await, (vec![110], 1));
    let status = Some(EventStatus::Of(DeliveryStatus::Queued));
    let nobody = EventQuery { account: AccountId::from_u64(98), status, source: Some(SOURCE), ..ALL };
    assert_eq!(list(&*store, nobody).await, (vec![], 0));
}

pub async fn a_replay_tells_what_it_repeats(harness: &dyn Harness) {
    let store = harness.open().await;
    let first = event(100, vec![owed(101, 10)]);
    let replay = NewEvent { replay_of: Some(first.id), ..event(110, vec![owed(111, 10)]) };
    accept(&*store, vec![first.clone(), replay.clone()]).await;
    assert_eq!(detail(&*store, first.id).await.replay_of, None);
    assert_eq!(detail(&*store, replay.id).await.replay_of, Some(first.id));
    assert_eq!(rows(&*store).await, 2, "a replay is owed for itself");
}

pub async fn housekeeping_keeps_what_is_young(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    let done = accept_one(&*store, event(110, vec![owed(111, 11)])).await;
    let mut outcome = finished(112, done, DEAD);
    outcome.attempt.response_body = Bytes::from_static(b"no");
    commit(&*store, vec![], vec![outcome]).await;
    let before = (detail(&*store, ticket.event).await, detail(&*store, done.event).await);
    for minute in 0..5 {
        store.maintain(START.after(seconds(60 * minute))).await.unwrap();
    }
    assert_eq!((detail(&*store, ticket.event).await, detail(&*store, done.event).await), before);
    assert_eq!(waiting(&*store, fresh(10)).await, [ticket]);
}
