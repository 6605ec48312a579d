//! Connections: kept while they are of use, and nobody's but their destination's.

use crate::gateway::Gateway;
use crate::receiver::{BROKEN, OK, Receiver};
use crate::wait::wait_within;
use postrider_core::destination::{MaxConcurrency, TimeoutSeconds};
use std::time::Duration;

/// Delivers so many events one after the other, each at its first attempt.
async fn deliver_in_turn(gateway: &Gateway, count: usize) {
    for n in 0..count {
        let event = gateway.accept(format!("{n}")).await;
        gateway.delivered_at_once(event).await;
    }
}

#[tokio::test]
async fn twenty_deliveries_in_a_row_share_one_connection_however_the_answer_ends() {
    for answer in [
        OK,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ] {
        let receiver = Receiver::answering([answer]).await;
        let gateway = Gateway::start().await;
        gateway.deliver_to(&receiver.url()).await;
        deliver_in_turn(&gateway, 20).await;
        let counts = (receiver.requests().len(), receiver.connections());
        assert_eq!(counts, (20, 1), "{}", String::from_utf8_lossy(answer));
    }
}

#[tokio::test]
async fn an_answer_behind_a_refusal_is_nobody_s() {
    // Whatever comes second over a connection is a 200 that belongs to nothing.
    let receiver = Receiver::start(|mut peer| async move {
        peer.request().await;
        let _ = peer.write(BROKEN).await;
        peer.request().await;
        let _ = peer.write(OK).await;
        peer.until_closed().await;
    })
    .await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    // Fewer than open the circuit.
    for count in 1..=4 {
        let event = gateway.accept("{}").await;
        assert_eq!(gateway.attempt(event).await.status, Some(500));
        assert_eq!((receiver.requests().len(), receiver.connections()), (count, count));
    }
}

#[tokio::test]
async fn two_destinations_at_one_address_share_no_connection() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    for kind in ["a", "b"] {
        gateway.route(kind, &gateway.destination(&receiver.url())).await;
    }
    for kind in ["a", "b", "a", "b"] {
        let event = gateway.accept_typed(kind).await;
        gateway.delivered_at_once(event).await;
    }
    let connections: Vec<usize> = receiver.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 1, 0, 1]);
}

#[tokio::test]
async fn a_connection_that_the_receiver_closes_while_idle_costs_no_attempt() {
    let receiver = Receiver::start(|mut peer| async move {
        peer.request().await;
        let _ = peer.write(OK).await;
        peer.released().await;
        peer.close();
    })
    .await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    for round in 1..=20 {
        receiver.hold();
        deliver_in_turn(&gateway, 1).await;
        receiver.release();
        receiver.until_closed(round).await;
    }
    assert_eq!((receiver.requests().len(), receiver.connections()), (20, 20));
}

#[tokio::test]
async fn a_request_that_a_closing_connection_took_is_sent_once_more_and_not_over_each_idle_one() {
    let receiver = Receiver::start(|mut peer| async move {
        peer.request().await;
        peer.released().await;
        let _ = peer.write(OK).await;
        peer.request().await;
        peer.close();
    })
    .await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let first = [gateway.accept("1").await, gateway.accept("2").await, gateway.accept("3").await];
    receiver.until_requests(3).await;
    receiver.release();
    for event in first {
        gateway.delivered_at_once(event).await;
    }
    deliver_in_turn(&gateway, 1).await;
    assert_eq!((receiver.requests().len(), receiver.connections()), (5, 4), "one over an idle one, one more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_the_receiver_closes_with_its_answer_costs_no_attempt() {
    let receiver = Receiver::start(|mut peer| async move {
        peer.request().await;
        let _ = peer.write(OK).await;
        peer.close();
    })
    .await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.max_concurrency = MaxConcurrency::new(1).unwrap();
    gateway.route("**", &destination).await;
    // All at once, so that each is sent as soon as the one before is recorded.
    let mut events = Vec::new();
    for n in 0..300 {
        events.push(gateway.accept(format!("{n}")).await);
    }
    for event in events {
        gateway.delivered_at_once(event).await;
    }
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (300, 0));
}

#[tokio::test]
async fn a_connection_is_closed_when_the_receiver_says_so() {
    let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    let receiver = Receiver::answering([&answer[..]]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    deliver_in_turn(&gateway, 5).await;
    receiver.until_closed(5).await;
    assert_eq!(receiver.connections(), 5);
}

#[tokio::test]
async fn an_answer_nobody_asked_for_is_not_taken_for_the_next_one() {
    let doubled =
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n";
    let receiver = Receiver::answering([&doubled[..]]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    deliver_in_turn(&gateway, 5).await;
    assert_eq!(receiver.connections(), 5, "a connection with more to say is not used again");
}

#[tokio::test]
async fn a_changed_url_is_where_the_next_delivery_goes() {
    let (old, new) = (Receiver::answering([OK]).await, Receiver::answering([OK]).await);
    let gateway = Gateway::start().await;
    let mut destination = gateway.deliver_to(&old.url()).await;
    deliver_in_turn(&gateway, 1).await;
    destination.url = new.url();
    gateway.put(&destination).await;
    deliver_in_turn(&gateway, 1).await;
    assert_eq!((old.requests().len(), new.requests().len()), (1, 1), "requests at the old and the new URL");
}

#[tokio::test]
async fn a_receiver_that_answers_and_never_reads_keeps_no_connection_of_ours() {
    let receiver = Receiver::start(|mut peer| async move {
        let _ = peer.write(OK).await;
        std::future::pending::<()>().await;
    })
    .await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.timeout = TimeoutSeconds::new(1).unwrap();
    gateway.route("**", &destination).await;
    // More than the sockets' buffers take, so that the request is not out when the answer is in.
    let event = gateway.accept(vec![7; 20_000_000]).await;
    gateway.attempt(event).await;
    // Idle connections are looked through every 5 s.
    wait_within(Duration::from_secs(7), "the connection is let go", async || {
        (receiver.held() == 0).then_some(())
    })
    .await;
}
