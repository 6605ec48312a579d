//! Reading what became of events.

use super::Harness;
use super::sample::{ACCOUNT, DEAD, START, accept, accept_one, commit, detail, event, finished, fresh};
use super::sample::{owed, rows, seconds, waiting};
use crate::{Attempt, ErrorKind, EventContent, EventDetail, NewEvent, Problem, Timing};
use bytes::Bytes;
use postrider_core::id::{AccountId, DeliveryId, EventId, NODES_MAX};
use postrider_core::limits::ATTEMPTS_SHOWN_MAX;
use postrider_core::outcome::{DeathReason, Next, Outcome};
use std::sync::Arc;
use std::time::Duration;

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
            sentence: "The receiver responded 429 – zu viel".into(),
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

/// One delivery, tried more often than is shown, beside one that was tried before all of that.
pub async fn the_last_attempts_are_shown(harness: &dyn Harness) {
    let store = harness.open().await;
    let both = event(NODES_MAX, vec![owed(2 * NODES_MAX, 10), owed(3 * NODES_MAX, 11)]);
    accept(&*store, vec![both.clone()]).await;
    let mut tickets: Vec<_> = both.tickets().collect();
    commit(&*store, vec![], vec![finished(200, tickets[1], Next::Delivered)]).await;
    let tried = ATTEMPTS_SHOWN_MAX as u32 + 3;
    for number in 1..=tried {
        let due = START.after(seconds(u64::from(number)));
        commit(&*store, vec![], vec![finished(200 + u64::from(number), tickets[0], Next::Retry { due })])
            .await;
        tickets[0] = tickets[0].due_again(due);
    }
    let numbers =
        |seen: &EventDetail| -> Vec<_> { seen.attempts.iter().map(|attempt| attempt.number).collect() };
    let all = detail(&*store, both.id).await;
    assert_eq!(numbers(&all), (4..=tried).collect::<Vec<_>>());
    let counts: Vec<_> = all.deliveries.iter().map(|delivery| delivery.attempts).collect();
    assert_eq!(counts, [tried, 1], "what is not shown counts");
    for (ticket, expected) in [(tickets[0], (4..=tried).collect()), (tickets[1], vec![1])] {
        let seen = store.event_of(ACCOUNT, ticket.delivery).await.unwrap().unwrap();
        assert_eq!(numbers(&seen), expected, "its own alone");
        assert_eq!(seen.deliveries, all.deliveries);
    }
}

pub async fn a_replay_tells_what_it_repeats(harness: &dyn Harness) {
    let store = harness.open().await;
    let first = event(100, vec![owed(101, 10)]);
    let again = event(110, vec![owed(111, 10)]);
    let content = EventContent { replay_of: Some(first.id), ..EventContent::clone(&again.content) };
    let replay = NewEvent { content: Arc::new(content), ..again };
    accept(&*store, vec![first.clone(), replay.clone()]).await;
    assert_eq!(detail(&*store, first.id).await.content.replay_of, None);
    assert_eq!(detail(&*store, replay.id).await.content.replay_of, Some(first.id));
    let to_send = store.content(replay.id).await.unwrap().unwrap();
    assert_eq!(to_send.replay_of, Some(first.id), "known to the sender, too");
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

/// Ids of one node, as a node makes them, with an event of another in between.
pub async fn the_event_of_a_delivery_is_found_by_its_id(harness: &dyn Harness) {
    let store = harness.open().await;
    let made = |n: u64| NODES_MAX * (1_000_000_000 + n);
    let wide = event(made(0), vec![owed(made(1), 10), owed(made(2), 11), owed(made(3), 12)]);
    let between = event(made(1) + 1, vec![owed(made(2) + 1, 10)]);
    accept(
        &*store,
        vec![wide.clone(), between, event(made(10), vec![]), event(made(20), vec![owed(made(21), 10)])],
    )
    .await;
    let ticket = wide.tickets().nth(1).unwrap();
    commit(&*store, vec![], vec![finished(made(30), ticket, Next::Delivered)]).await;
    let of = async |account, id| store.event_of(account, DeliveryId::from_u64(id)).await.unwrap();
    for (delivery, event) in [(1, 0), (2, 0), (3, 0), (21, 20)] {
        let mut expected = detail(&*store, EventId::from_u64(made(event))).await;
        expected.attempts.retain(|attempt| attempt.delivery.as_u64() == made(delivery));
        assert_eq!(of(ACCOUNT, made(delivery)).await, Some(expected), "{delivery}");
    }
    for unknown in [0, 4, 11, 20, 22, 30] {
        assert_eq!(of(ACCOUNT, made(unknown)).await, None, "{unknown}");
    }
    assert_eq!(of(AccountId::from_u64(99), made(1)).await, None, "of another account");
}
