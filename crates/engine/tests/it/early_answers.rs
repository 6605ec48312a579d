//! Receivers that answer before they have read all of a large event: it counts as delivered when they have.

use crate::gateway::{Gateway, Setup};
use crate::receiver::{OK, Peer, Receiver};
use crate::tls_receiver::{ANSWERED_FIRST, Authority, NEVER_READ, TlsReceiver, trusting};
use crate::wait::wait_until;
use postrider_core::destination::TimeoutSeconds;
use postrider_core::outcome::Outcome;
use postrider_store::{Attempt, ErrorKind};

/// More than the sockets' buffers take: what is not read is still to be sent.
const BODY_BYTES: usize = 20_000_000;

fn body() -> Vec<u8> {
    (0..BODY_BYTES).map(|at| (at % 251) as u8).collect()
}

/// Sends a large event to a receiver that treats its first connection so; then a small one, which comes by another.
async fn sent<F>(script: impl Fn(Peer) -> F + Clone + Send + Sync + 'static) -> (Attempt, Receiver)
where
    F: Future<Output = ()> + Send + 'static,
{
    let receiver = Receiver::start(move |mut peer| {
        let script = script.clone();
        async move {
            if peer.connection == 0 {
                return script(peer).await;
            }
            peer.request().await;
            let _ = peer.write(OK).await;
            peer.until_closed().await;
        }
    })
    .await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let large = gateway.accept(body()).await;
    let attempt = gateway.attempt(large).await;
    let small = gateway.accept("small").await;
    gateway.delivered_at_once(small).await;
    let came = receiver.requests().into_iter().find(|request| request.body == b"small").unwrap();
    assert_eq!(came.connection, 1, "the connection was used again");
    (attempt, receiver)
}

async fn check_delivered(attempt: &Attempt, receiver: &Receiver) {
    assert_eq!((attempt.outcome, attempt.status), (Outcome::Success, Some(200)), "{:?}", attempt.problem);
    // The last of it may still be on its way to the receiver.
    let requests = receiver.until_requests(2).await;
    assert!(requests.iter().any(|request| request.body == body()));
}

#[tokio::test]
async fn a_receiver_that_answers_first_and_reads_then_has_the_whole_event() {
    let (attempt, receiver) = sent(|mut peer| async move {
        let _ = peer.write(OK).await;
        peer.request().await;
        peer.until_closed().await;
    })
    .await;
    check_delivered(&attempt, &receiver).await;
    assert_eq!(attempt.response_body, "ok");
}

#[tokio::test]
async fn a_receiver_may_end_its_answer_once_it_has_the_event() {
    let (attempt, receiver) = sent(|mut peer| async move {
        let _ = peer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n").await;
        peer.request().await;
        let _ = peer.write(b"ok").await;
        peer.until_closed().await;
    })
    .await;
    check_delivered(&attempt, &receiver).await;
    assert_eq!(attempt.response_body, "ok");
}

#[tokio::test]
async fn a_receiver_that_says_much_before_it_reads_has_the_whole_event() {
    let (attempt, receiver) = sent(|mut peer| async move {
        let _ = peer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n").await;
        let _ = peer.write(&vec![b'x'; 600_000]).await;
        peer.request().await;
        peer.until_closed().await;
    })
    .await;
    check_delivered(&attempt, &receiver).await;
}

#[tokio::test]
async fn an_event_that_was_accepted_and_not_taken_is_not_delivered() {
    let (attempt, _) = sent(|mut peer| async move {
        let _ = peer.write(OK).await;
        peer.close();
    })
    .await;
    let problem = attempt.problem.unwrap();
    assert_eq!((attempt.outcome, problem.kind), (Outcome::NetworkError, ErrorKind::Disconnected));
    assert!(problem.sentence.contains("before it had read the whole event"), "{}", problem.sentence);
}

/// Within the limit of 5,000,000 bytes, and more than a kernel takes for a receiver that does not read.
#[tokio::test]
async fn an_event_within_the_limit_that_was_accepted_unread_counts_once_all_of_it_is_sent() {
    let body = &body()[..4_900_000];
    let receiver = Receiver::start(|mut peer| async move {
        let _ = peer.write(OK).await;
        // The first one never reads.
        if peer.connection == 0 {
            peer.released().await;
        }
        peer.request().await;
        peer.until_closed().await;
    })
    .await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.timeout = TimeoutSeconds::new(1).unwrap();
    gateway.route("**", &destination).await;
    let unread = gateway.attempt(gateway.accept(body.to_vec()).await).await;
    assert_eq!((unread.outcome, unread.status), (Outcome::Timeout, Some(200)));
    let problem = unread.problem.unwrap();
    assert!(problem.sentence.contains("did not read the whole event"), "{}", problem.sentence);
    assert!(receiver.requests().is_empty());
    let read = gateway.attempt(gateway.accept(body.to_vec()).await).await;
    assert_eq!(read.outcome, Outcome::Success, "{:?}", read.problem);
    assert!(receiver.until_requests(1).await[0].body == body);
    receiver.release();
}

#[tokio::test]
async fn a_refusal_counts_before_the_event_was_taken() {
    let (attempt, _) = sent(|mut peer| async move {
        let _ = peer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!").await;
        peer.until_closed().await;
    })
    .await;
    assert_eq!((attempt.outcome, attempt.status), (Outcome::Http4xx, Some(413)), "{:?}", attempt.problem);
    assert_eq!(attempt.response_body, "no!");
}

/// Sends a large event by HTTP/2.
async fn sent_by_http2(path: &str) -> (Attempt, TlsReceiver) {
    let authority = Authority::new("trusted");
    let receiver = TlsReceiver::start(authority.sign("localhost", |_| {}), &["h2"]).await;
    let gateway = Setup { tls: trusting(&[authority.root()]), ..Setup::default() }.start().await;
    gateway.deliver_to(&format!("https://localhost:{}{path}", receiver.port())).await;
    let large = gateway.accept(body()).await;
    (gateway.attempt(large).await, receiver)
}

#[tokio::test]
async fn a_receiver_by_http2_that_answers_first_has_the_whole_event() {
    let (attempt, receiver) = sent_by_http2(ANSWERED_FIRST).await;
    assert_eq!((attempt.outcome, attempt.status), (Outcome::Success, Some(200)), "{:?}", attempt.problem);
    let requests =
        wait_until("it is read", async || Some(receiver.requests()).filter(|all| !all.is_empty())).await;
    assert!(requests[0].body == body());
}

#[tokio::test]
async fn an_event_that_was_accepted_by_http2_and_not_taken_is_not_delivered() {
    let (attempt, receiver) = sent_by_http2(NEVER_READ).await;
    let problem = attempt.problem.unwrap();
    assert_eq!((attempt.outcome, problem.kind), (Outcome::NetworkError, ErrorKind::Disconnected));
    assert!(problem.sentence.contains("before it had read the whole event"), "{}", problem.sentence);
    assert!(receiver.requests().is_empty());
}
