//! Answers that are none, and odd ones that are: what is recorded, and that their connections are not used again.

use crate::gateway::Gateway;
use crate::receiver::{OK, Receiver};
use bytes::Bytes;
use postrider_core::outcome::Outcome;
use postrider_store::{Attempt, ErrorKind};

/// What follows the bytes of an answer.
#[derive(Clone, Copy, Debug)]
enum Then {
    Wait,
    Close,
    Reset,
}

/// Gives the first connection this answer and all others a good one. Gives the first attempt, once a second event
/// has been delivered over another connection.
async fn answered(answer: &[u8], then: Then) -> Attempt {
    let answer = Bytes::copy_from_slice(answer);
    let receiver = Receiver::start(move |mut peer| {
        let answer = answer.clone();
        async move {
            peer.request().await;
            if peer.connection > 0 {
                let _ = peer.write(OK).await;
                peer.until_closed().await;
                return;
            }
            let _ = peer.write(&answer).await;
            match then {
                Then::Wait => drop(peer.request().await),
                Then::Close => peer.close(),
                Then::Reset => peer.reset(),
            }
        }
    })
    .await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let first = gateway.accept("first").await;
    let attempt = gateway.attempt(first).await;
    let second = gateway.accept("second").await;
    gateway.delivered_at_once(second).await;
    let connections: Vec<usize> = receiver.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 1], "the connection was used again");
    attempt
}

async fn check(answer: &[u8], then: Then, kind: ErrorKind, status: Option<u16>) -> Attempt {
    let attempt = answered(answer, then).await;
    let found = attempt.problem.as_ref().map(|problem| problem.kind);
    let text = String::from_utf8_lossy(&answer[..answer.len().min(80)]);
    assert_eq!(
        (attempt.outcome, found, attempt.status),
        (Outcome::NetworkError, Some(kind), status),
        "{text:?}"
    );
    attempt
}

#[tokio::test]
async fn garbage_is_no_answer() {
    for garbage in [
        &b"\x00\xff\x16\x03\x01garbage\r\n\r\n"[..],
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
    ] {
        check(garbage, Then::Wait, ErrorKind::BadResponse, None).await;
    }
}

#[tokio::test]
async fn two_different_content_lengths_are_no_answer() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!";
    check(answer, Then::Wait, ErrorKind::BadResponse, None).await;
    let listed = b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok!";
    check(listed, Then::Wait, ErrorKind::BadResponse, None).await;
}

#[tokio::test]
async fn a_connection_that_ends_before_the_answer_s_head_is_told() {
    for then in [Then::Close, Then::Reset] {
        check(b"", then, ErrorKind::Disconnected, None).await;
        check(b"HTTP/1.1 200 OK\r\nContent-Le", then, ErrorKind::Disconnected, None).await;
    }
}

#[tokio::test]
async fn a_connection_that_ends_inside_the_answer_s_body_is_told_and_the_status_kept() {
    let sized = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n";
    for answer in [&sized[..], chunked] {
        let attempt = check(answer, Then::Close, ErrorKind::Disconnected, Some(200)).await;
        assert_eq!(attempt.response_body, "part");
        check(answer, Then::Reset, ErrorKind::Disconnected, Some(200)).await;
    }
}

#[tokio::test]
async fn a_chunk_with_a_senseless_size_is_no_answer() {
    let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nffffffffffffffffff\r\n";
    let attempt = answered(answer, Then::Wait).await;
    assert_eq!((attempt.outcome, attempt.status), (Outcome::NetworkError, Some(200)));
}

#[tokio::test]
async fn an_answer_may_end_with_its_connection() {
    for answer in [&b"HTTP/1.0 200 OK\r\n\r\nto the end"[..], b"HTTP/1.1 200 OK\r\n\r\nto the end"] {
        let attempt = answered(answer, Then::Close).await;
        assert_eq!((attempt.outcome, attempt.problem), (Outcome::Success, None));
        assert_eq!(attempt.response_body, "to the end");
    }
}

#[tokio::test]
async fn any_2xx_is_success_and_nothing_else_is() {
    for (answer, outcome) in [
        (&b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"[..], Outcome::Success),
        (b"HTTP/1.1 299 Odd\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Outcome::Success),
        (b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Outcome::Http4xx),
        (b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Outcome::Http5xx),
        (b"HTTP/1.1 999 Odd\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Outcome::Http5xx),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", Outcome::Http5xx),
    ] {
        let attempt = answered(answer, Then::Wait).await;
        let status: u16 = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        assert_eq!((attempt.outcome, attempt.status), (outcome, Some(status)));
        let kind = attempt.problem.map(|problem| problem.kind);
        assert_eq!(kind, (outcome != Outcome::Success).then_some(ErrorKind::Status), "{status}");
    }
}

#[tokio::test]
async fn a_compressed_answer_is_kept_as_it_is() {
    // `gzip -n` of nothing at all.
    const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n";
    let attempt = answered(&[HEAD, GZIP].concat(), Then::Wait).await;
    assert_eq!((attempt.outcome, &attempt.response_body[..]), (Outcome::Success, GZIP));
    assert!(attempt.response_headers.has("content-encoding", "gzip"));
}
