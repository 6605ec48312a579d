//! Receivers that send too much: what is read and kept has a bound, whatever they send.

use crate::gateway::Gateway;
use crate::receiver::{OK, Peer, Receiver};
use postrider_core::destination::TimeoutSeconds;
use postrider_core::limits::{RESPONSE_BYTES_MAX, RESPONSE_HEADER_BYTES_MAX};
use postrider_core::outcome::Outcome;
use postrider_store::{Attempt, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;

const DEADLINE: Duration = Duration::from_secs(3);
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What the buffers of two sockets and of hyper take without anyone keeping a byte of it.
const BUFFERED_MAX: usize = 24 * 1024 * 1024;

/// Answers the first connection with `head` and then `unit` over and over, up to `most` bytes. Gives the attempt and
/// how many bytes the gateway took before it closed.
async fn flood(head: &'static [u8], unit: &'static [u8], most: usize) -> (Attempt, usize) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let receiver = elsewhere(Receiver::start(move |mut peer| {
        let count = Arc::clone(&count);
        async move {
            peer.request().await;
            if peer.connection > 0 {
                let _ = peer.write(OK).await;
                peer.until_closed().await;
                return;
            }
            pour(&mut peer, head, unit, most, &count).await;
            peer.closed();
        }
    }))
    .await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.timeout = TimeoutSeconds::new(DEADLINE.as_secs()).unwrap();
    gateway.route("**", &destination).await;
    let first = gateway.accept("first").await;
    let attempt = gateway.attempt(first).await;
    receiver.until_closed(1).await;
    let second = gateway.accept("second").await;
    gateway.delivered_at_once(second).await;
    assert_eq!(receiver.requests()[1].connection, 1, "the connection was used again");
    (attempt, taken.load(Ordering::SeqCst))
}

/// Runs a receiver on a thread of its own, as a real one does: what it pours is there whenever we look.
async fn elsewhere(receiver: impl Future<Output = Receiver> + Send + 'static) -> Receiver {
    let (reply, started) = oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let _ = reply.send(receiver.await);
            std::future::pending::<()>().await;
        });
    });
    started.await.unwrap()
}

async fn pour(peer: &mut Peer, head: &[u8], unit: &[u8], most: usize, count: &AtomicUsize) {
    if peer.write(head).await.is_err() {
        return;
    }
    let units = unit.repeat(64 * 1024 / unit.len());
    while count.load(Ordering::SeqCst) < most {
        if peer.write(&units).await.is_err() {
            return;
        }
        count.fetch_add(units.len(), Ordering::SeqCst);
    }
    // All of it was taken; what is left to see is whether the gateway closes.
    peer.until_closed().await;
}

#[tokio::test]
async fn of_an_endless_body_a_part_is_kept_and_the_status_counts() {
    for head in [
        &b"HTTP/1.1 200 OK\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
    ] {
        let (attempt, taken) = flood(head, b"x", 1_000_000_000).await;
        assert_eq!((attempt.outcome, attempt.problem), (Outcome::Success, None));
        assert_eq!(attempt.response_body, vec![b'x'; RESPONSE_BYTES_MAX]);
        assert!(taken < BUFFERED_MAX, "{taken} bytes were taken");
    }
    let (attempt, _) = flood(b"HTTP/1.1 500 Broken\r\n\r\n", b"x", 1_000_000_000).await;
    assert_eq!((attempt.outcome, attempt.response_body.len()), (Outcome::Http5xx, RESPONSE_BYTES_MAX));
}

#[tokio::test]
async fn a_body_of_just_the_limit_keeps_its_connection_and_one_byte_more_does_not() {
    for (bytes, connections) in [(RESPONSE_BYTES_MAX, 1), (RESPONSE_BYTES_MAX + 1, 2)] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
        let answer = [head.into_bytes(), vec![b'x'; bytes]].concat();
        let receiver = Receiver::answering([answer]).await;
        let gateway = Gateway::start().await;
        gateway.deliver_to(&receiver.url()).await;
        for _ in 0..2 {
            let event = gateway.accept("{}").await;
            gateway.delivered_at_once(event).await;
            assert_eq!(gateway.attempt(event).await.response_body.len(), RESPONSE_BYTES_MAX);
        }
        assert_eq!(receiver.connections(), connections, "for {bytes} bytes");
    }
}

#[tokio::test]
async fn endless_headers_are_no_answer() {
    for (head, unit) in [
        (&b"HTTP/1.1 200 OK\r\n"[..], &b"X-Flood: 0123456789abcdef0123456789abcdef\r\n"[..]),
        (b"HTTP/1.1 200 OK\r\nX-Flood: ", b"x"),
        (b"HTTP/1.1 200 ", b"O"),
    ] {
        let (attempt, taken) = flood(head, unit, 100_000_000).await;
        assert_eq!((attempt.outcome, attempt.status), (Outcome::NetworkError, None));
        assert_eq!(attempt.problem.unwrap().kind, ErrorKind::BadResponse);
        assert!(taken < BUFFERED_MAX, "{taken} bytes were taken");
    }
}

#[tokio::test]
async fn of_many_headers_a_part_is_kept() {
    let many: String = (0..50).map(|n| format!("X-{n}: {}\r\n", "v".repeat(1000))).collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{many}Content-Length: 0\r\n\r\n");
    let receiver = Receiver::answering([answer]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let event = gateway.accept("{}").await;
    gateway.delivered_at_once(event).await;
    let kept = gateway.attempt(event).await.response_headers;
    let bytes: usize = kept.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!((RESPONSE_HEADER_BYTES_MAX - 1100..=RESPONSE_HEADER_BYTES_MAX).contains(&bytes), "{bytes}");
}

#[tokio::test]
async fn an_answer_that_was_announced_is_waited_for() {
    let answer = [&CONTINUE.repeat(1000)[..], OK].concat();
    let receiver = Receiver::answering([answer]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let event = gateway.accept("{}").await;
    gateway.delivered_at_once(event).await;
}

#[tokio::test]
async fn an_answer_that_is_announced_without_end_is_given_up_on() {
    let (attempt, _) = flood(b"", CONTINUE, usize::MAX).await;
    assert_eq!(attempt.status, None);
    assert!(matches!(attempt.outcome, Outcome::Timeout | Outcome::NetworkError), "{:?}", attempt.outcome);
    let by = DEADLINE + Duration::from_secs(1);
    assert!(attempt.timing.total < by, "the thread was kept from all others: {:?}", attempt.timing);
}

#[tokio::test]
async fn a_body_in_tiny_chunks_is_kept_as_any_other() {
    // 70,000 frames of a byte each.
    let chunks = b"1\r\nx\r\n".repeat(70_000);
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = [&head[..], &chunks, b"0\r\n\r\n"].concat();
    let receiver = Receiver::answering([answer]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let event = gateway.accept("{}").await;
    gateway.delivered_at_once(event).await;
    assert_eq!(gateway.attempt(event).await.response_body, vec![b'x'; RESPONSE_BYTES_MAX]);
    receiver.until_closed(1).await;
}
