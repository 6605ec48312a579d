//! What follows a failed attempt: when it is tried again, and when it is given up on.

use crate::gateway::{Gateway, Setup, every};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::request::assert_signed;
use crate::switched_store::SwitchedStore;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::destination::CircuitPolicy;
use postrider_core::outcome::{DeathReason, Next, Outcome};
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_store::{DeliveryState, Store};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn standing(delivery: &DeliveryState) -> (DeliveryStatus, u32, Option<DeathReason>) {
    (delivery.status, delivery.attempts, delivery.reason)
}

#[tokio::test]
async fn gone_is_final() {
    let receiver = Receiver::answering([&b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"[..]]).await;
    let store = SwitchedStore::new();
    let gateway = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() }.start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::ZERO, 10));
    gateway.route("**", &destination).await;
    let event = gateway.accept("{}").await;
    let detail = gateway.settled(event).await;
    let expected = (DeliveryStatus::DeadLetter, 1, Some(DeathReason::Disabled));
    assert_eq!(standing(&detail.deliveries[0]), expected);
    assert_eq!(detail.attempts[0].next, Next::Dead(DeathReason::Disabled));
    assert_eq!((receiver.requests().len(), store.deaths()), (1, 1));
    assert_eq!(gateway.activity().await.pending.rows, 0);
}

#[tokio::test]
async fn a_failure_is_due_again_within_the_policy_s_spread() {
    let receiver = Receiver::answering([BROKEN]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    let most = Duration::from_secs(30_000);
    let policy = RetryPolicy::new(Schedule::Delays(vec![most]), Some(2), None, Jitter::Full);
    destination.retry_policy = Some(policy.unwrap());
    destination.circuit = CircuitPolicy::new(Some(100), None, None).unwrap();
    gateway.route("**", &destination).await;
    let mut waits = Vec::new();
    for _ in 0..20 {
        let event = gateway.accept("{}").await;
        let detail = gateway.attempted(event, 1).await;
        assert_eq!(standing(&detail.deliveries[0]), (DeliveryStatus::RetryScheduled, 1, None));
        let attempt = &detail.attempts[0];
        assert_eq!((attempt.outcome, attempt.status), (Outcome::Http5xx, Some(500)));
        let due = detail.deliveries[0].next_attempt_at.unwrap();
        assert_eq!(attempt.next, Next::Retry { due });
        assert!(due >= attempt.started_at && due <= gateway.engine.clock().now().after(most));
        waits.push(due.since(attempt.started_at));
    }
    // Twenty of them in one tenth by chance: 1 in 10^19.
    let spread = *waits.iter().max().unwrap() - *waits.iter().min().unwrap();
    assert!(spread > most / 10, "they come back as a herd: {waits:?}");
}

#[tokio::test]
async fn attempts_are_counted_and_end_in_one_dead_letter() {
    let receiver = Receiver::answering([BROKEN]).await;
    let store = SwitchedStore::new();
    let gateway = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() }.start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::ZERO, 3));
    gateway.route("**", &destination).await;
    let event = gateway.accept("{}").await;
    let detail = gateway.settled(event).await;
    let expected = (DeliveryStatus::DeadLetter, 3, Some(DeathReason::Attempts));
    assert_eq!(standing(&detail.deliveries[0]), expected);
    assert_eq!(detail.attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((store.deaths(), store.finished().len()), (1, 3));

    let requests = receiver.requests();
    let numbers: Vec<&str> = requests.iter().map(|request| request.one("postrider-attempt")).collect();
    assert_eq!(numbers, ["1", "2", "3"]);
    let ids: HashSet<&str> = requests.iter().map(|request| request.one("webhook-id")).collect();
    assert_eq!(ids, HashSet::from([event.to_string().as_str()]), "one event is one id");
    let activity = gateway.activity().await;
    assert_eq!((activity.pending.rows, activity.counters.sent), (0, 3), "nothing is owed any more");
}

#[tokio::test]
async fn a_failed_delivery_is_delivered_in_the_end() {
    let receiver = Receiver::answering([BROKEN, b"garbage\r\n\r\n", OK]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::from_millis(1), 10));
    gateway.route("**", &destination).await;
    let event = gateway.accept("{}").await;
    let detail = gateway.settled(event).await;
    assert_eq!(standing(&detail.deliveries[0]), (DeliveryStatus::Delivered, 3, None));
    let outcomes: Vec<Outcome> = detail.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Http5xx, Outcome::NetworkError, Outcome::Success]);
}

#[tokio::test]
async fn a_receiver_is_left_alone_for_as_long_as_it_asked() {
    let busy = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n";
    let receiver = Receiver::answering([&busy[..], OK]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::ZERO, 10));
    gateway.route("**", &destination).await;
    let event = gateway.accept("{}").await;
    gateway.settled(event).await;
    let requests = receiver.requests();
    let pause = requests[1].at - requests[0].at;
    // Times are kept in whole milliseconds.
    assert!((Duration::from_millis(1995)..Duration::from_secs(4)).contains(&pause), "{pause:?}");
    let seconds = |n: usize| requests[n].one("webhook-timestamp").parse::<u64>().unwrap();
    assert!(seconds(1) > seconds(0), "the timestamp is of the attempt, not of the event");
    requests.iter().for_each(assert_signed);
}

#[tokio::test]
async fn retry_after_is_read_as_hostile_input() {
    let policy = Duration::from_secs(10);
    for (value, expected) in [
        ("inf", policy),
        ("NaN", policy),
        ("1e300", policy),
        ("-1", policy),
        ("", policy),
        ("soon", policy),
        ("3", policy),
        ("Thu, 01 Jan 1970 00:00:00 GMT", policy),
        ("60", Duration::from_secs(60)),
        ("99999999999999999", DAY),
        ("999999999999999999999999999999999999999", DAY),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
    ] {
        let answer = format!("HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        let receiver = Receiver::answering([answer]).await;
        let gateway = Gateway::start().await;
        let mut destination = gateway.destination(&receiver.url());
        destination.retry_policy = Some(every(policy, 10));
        gateway.route("**", &destination).await;
        let event = gateway.accept("{}").await;
        let detail = gateway.attempted(event, 1).await;
        let wait = detail.deliveries[0].next_attempt_at.unwrap().since(detail.attempts[0].started_at);
        assert!((expected..expected + Duration::from_secs(5)).contains(&wait), "{value:?}: {wait:?}");
    }
}
