//! Receivers that hang: the one deadline covers all of it, and the slot is back by the deadline + 1 s.

use crate::gateway::{Gateway, Setup, arrival};
use crate::receiver::{OK, Peer, Receiver};
use crate::wait::wait_within;
use bytes::Bytes;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::destination::TimeoutSeconds;
use postrider_core::event::EventType;
use postrider_core::outcome::Outcome;
use postrider_engine::{Arrival, EngineOptions};
use postrider_store::{Attempt, ErrorKind};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(1);
const SLACK: Duration = Duration::from_secs(1);

/// Sends an event into a trap with the only slot there is. Another destination waits for that slot.
async fn check<F>(
    scheme: &str,
    body: impl Into<Bytes>,
    script: impl Fn(Peer) -> F + Send + 'static,
) -> Attempt
where
    F: Future<Output = ()> + Send + 'static,
{
    let (trap, healthy) = (Receiver::start(script).await, Receiver::answering([OK]).await);
    let options = EngineOptions::new(1, 1);
    let gateway = Setup { options, ..Setup::default() }.start().await;
    let mut destination = gateway.destination(&format!("{scheme}://127.0.0.1:{}/", trap.port()));
    destination.timeout = TimeoutSeconds::new(DEADLINE.as_secs()).unwrap();
    gateway.route("trap", &destination).await;
    gateway.route("healthy", &gateway.destination(&healthy.url())).await;

    let event_type = Some(EventType::parse("trap").unwrap());
    let trapped = gateway.ingest(&Arrival { event_type, ..arrival(body) }).await.unwrap().id;
    trap.until_connections(1).await;
    let started = Instant::now();
    let waiting = gateway.accept_typed("healthy").await;
    assert_eq!(gateway.activity().await.in_flight_events.into_iter().collect::<Vec<_>>(), [trapped]);
    slot_is_back(&gateway, waiting, DEADLINE + SLACK - started.elapsed()).await;
    let let_go = async || (trap.held() == 0).then_some(());
    wait_within(DEADLINE + SLACK, "the connection is let go", let_go).await;

    let nothing_is_left = async || (trap.untaken_bytes() == 0).then_some(());
    wait_within(SLACK, "nothing of it is left in the kernel", nothing_is_left).await;

    let attempt = gateway.attempt(trapped).await;
    assert_eq!(attempt.outcome, Outcome::Timeout, "{:?}", attempt.problem);
    assert_eq!(attempt.problem.as_ref().unwrap().kind, ErrorKind::Timeout);
    assert!((DEADLINE..DEADLINE + SLACK).contains(&attempt.timing.total), "{:?}", attempt.timing);
    attempt
}

async fn slot_is_back(gateway: &Gateway, waiting: postrider_core::id::EventId, within: Duration) {
    wait_within(within, "the slot is back", async || {
        let delivered = gateway.detail(waiting).await.deliveries[0].status == DeliveryStatus::Delivered;
        delivered.then_some(())
    })
    .await;
}

/// Never ends; a peer that is dropped would close its connection.
async fn hang(peer: Peer) {
    std::future::pending::<()>().await;
    drop(peer);
}

/// A byte now and then, each long before the deadline.
async fn drip(mut peer: Peer, bytes: &[u8]) {
    for byte in bytes.iter().cycle() {
        if peer.write(&[*byte]).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_receiver_that_never_reads_is_given_up_on() {
    let attempt = check("http", "small", hang).await;
    assert_eq!((attempt.status, attempt.response_body.len()), (None, 0));
}

#[tokio::test]
async fn a_receiver_that_never_reads_a_large_body_is_given_up_on() {
    // More than the sockets' buffers take, so that the request is still on its way out.
    let attempt = check("http", vec![7; 20_000_000], hang).await;
    assert_eq!(attempt.status, None);
}

#[tokio::test]
async fn a_receiver_that_accepts_a_large_body_and_never_reads_it_is_given_up_on() {
    let attempt = check("http", vec![7; 20_000_000], |mut peer| async move {
        let _ = peer.write(OK).await;
        hang(peer).await;
    })
    .await;
    assert_eq!(attempt.status, Some(200), "seen, and yet no success");
    let sentence = attempt.problem.unwrap().sentence;
    assert!(sentence.contains("did not read the whole event within 1 s"), "{sentence}");
}

#[tokio::test]
async fn a_receiver_that_reads_and_never_answers_is_given_up_on() {
    let attempt = check("http", "small", |mut peer| async move {
        peer.request().await;
        hang(peer).await;
    })
    .await;
    assert_eq!(attempt.status, None);
    let sentence = attempt.problem.unwrap().sentence;
    assert!(sentence.contains("within 1 s") && sentence.contains("connected"), "{sentence}");
}

#[tokio::test]
async fn a_receiver_that_drips_headers_is_given_up_on() {
    let attempt = check("http", "small", |mut peer| async move {
        peer.request().await;
        let _ = peer.write(b"HTTP/1.1 200 OK\r\n").await;
        drip(peer, b"X-Drip: drop\r\n").await;
    })
    .await;
    assert_eq!(attempt.status, None, "a head that is not whole is no answer");
}

#[tokio::test]
async fn a_receiver_that_drips_the_body_is_given_up_on_and_what_came_is_kept() {
    for head in [
        &b"HTTP/1.1 200 OK\r\nX-Seen: 1\r\nContent-Length: 1000000\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nX-Seen: 1\r\n\r\n",
    ] {
        let attempt = check("http", "small", move |mut peer| async move {
            peer.request().await;
            let _ = peer.write(head).await;
            drip(peer, b"drop").await;
        })
        .await;
        assert_eq!(attempt.status, Some(200), "seen, and yet no success");
        assert!(attempt.response_headers.has("x-seen", "1"));
        assert!(attempt.response_body.starts_with(b"drop"), "{:?}", attempt.response_body);
        assert!(attempt.problem.unwrap().sentence.contains("started with 200"));
    }
}

#[tokio::test]
async fn a_receiver_that_never_shakes_hands_is_given_up_on() {
    let attempt = check("https", "small", hang).await;
    assert_eq!((attempt.timing.tls, attempt.timing.first_byte), (None, None));
    assert!(attempt.timing.connect.is_some());
}
