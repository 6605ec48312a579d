//! The roles together, in one process.

use crate::api::Api;
use crate::http;
use crate::load::{LoadPlan, LoadReport, Refused, Target, send_all};
use crate::receiver::{Question, ReceiverReport};
use crate::{forwarder, receiver};
use hyper::{Response, StatusCode};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    (listener, address)
}

/// Runs on a runtime of its own, with a receiver next to it.
fn with_receiver<F: Future<Output = ()>>(check: impl FnOnce(SocketAddr) -> F) {
    let (listener, address) = listener();
    http::runtime().expect("a runtime").block_on(async {
        tokio::spawn(receiver::serve(listener));
        check(address).await;
    });
}

async fn load(address: SocketAddr, paths: &[&str], rate_per_s: Option<u32>) -> LoadReport {
    send_all(plan(address, paths, rate_per_s)).await.expect("the load runs")
}

fn plan(address: SocketAddr, paths: &[&str], rate_per_s: Option<u32>) -> LoadPlan {
    let urls: Vec<String> = paths.iter().map(|path| format!("http://{address}{path}")).collect();
    let target = Target::parse(&urls).expect("legal URLs");
    LoadPlan {
        target,
        load: 0,
        events: 200,
        size_bytes: 1024,
        connections: 4,
        rate_per_s,
        refused: Refused::Again,
        deadline: Duration::from_secs(60),
    }
}

async fn report(receiver: SocketAddr) -> ReceiverReport {
    Api::new(receiver, None).expect("a client").get("/report").await.expect("the receiver answers")
}

fn counts(load: &LoadReport) -> (u64, u64, u64, u64) {
    (load.sent, load.accepted, load.refused, load.failed)
}

#[test]
fn every_event_goes_through_the_forwarder_once_and_the_receiver_forgets_on_reset() {
    with_receiver(async |receiver| {
        let (listener, forwarder) = listener();
        std::thread::spawn(move || forwarder::serve(&listener, Some(receiver)));
        assert_eq!(counts(&load(forwarder, &["/hook/a", "/hook/b"], None).await), (200, 200, 0, 0));
        let received = report(receiver).await;
        let per_path: Vec<_> =
            received.paths.iter().map(|(path, of)| (path.as_str(), of.count, of.unique)).collect();
        assert_eq!(per_path, [("/hook/a", 100, 100), ("/hook/b", 100, 100)]);
        assert!(received.all.first_sent_ns < received.all.last_ns);

        Api::new(receiver, None).expect("a client").post_empty("/reset").await.expect("reset");
        assert_eq!(report(receiver).await.all.count, 0);
    });
}

#[test]
fn a_rate_spreads_the_events_over_time() {
    with_receiver(async |receiver| {
        let sent = load(receiver, &["/hook/a"], Some(1000)).await;
        assert_eq!(sent.accepted, 200);
        assert!(sent.seconds >= 0.199, "200 events at 1,000/s took {} s", sent.seconds);
    });
}

#[test]
fn an_answer_500_is_a_failure_and_is_not_sent_again() {
    with_receiver(async |receiver| {
        let sent = load(receiver, &["/fail/a"], None).await;
        assert_eq!(counts(&sent), (200, 0, 0, 200));
        assert!(sent.first_failure.is_some_and(|why| why.contains("500")));
        assert_eq!(report(receiver).await.all.count, 0);
    });
}

#[test]
fn a_refused_event_is_sent_again_until_it_is_accepted() {
    let (listener, address) = listener();
    http::runtime().expect("a runtime").block_on(async {
        tokio::spawn(refuse_every_second_request(listener));
        let sent = load(address, &["/ingest/x"], None).await;
        assert_eq!((sent.sent, sent.accepted, sent.failed), (200, 200, 0));
        assert!(sent.refused >= 199, "{} refusals", sent.refused);
    });
}

#[test]
fn a_refused_event_is_dropped_where_asked_and_the_refusal_is_looked_at() {
    let (listener, address) = listener();
    http::runtime().expect("a runtime").block_on(async {
        tokio::spawn(refuse_every_second_request(listener));
        let sent =
            send_all(LoadPlan { refused: Refused::Dropped, ..plan(address, &["/ingest/x"], None) }).await;
        let sent = sent.expect("the load runs");
        assert_eq!((sent.sent, sent.accepted, sent.dropped, sent.refused), (200, 100, 100, 100));
        assert_eq!(sent.refusals_unexplained, 100, "they have a time and no code");
        assert!(sent.refusal_p99_us > 0);
    });
}

#[test]
fn a_failing_path_fails_during_an_outage_and_the_receiver_counts_both() {
    with_receiver(async |receiver| {
        let control = Api::new(receiver, None).expect("a client");
        control.post_empty("/outage").await.expect("an outage");
        let failed = load(receiver, &["/failing/1/a"], None).await;
        assert_eq!(counts(&failed), (200, 0, 0, 200));
        control.post_empty("/recovery").await.expect("a recovery");
        let second = send_all(LoadPlan { load: 1, ..plan(receiver, &["/failing/1/a"], None) }).await;
        assert_eq!(counts(&second.expect("the load runs")), (200, 200, 0, 0));

        let of_load = |load| Question::under("/failing/").of_load(load).path();
        let before: ReceiverReport = control.get(&of_load(0)).await.expect("a report");
        let after: ReceiverReport = control.get(&of_load(1)).await.expect("a report");
        assert_eq!((before.all.unique, before.all.rejected), (0, 200));
        assert_eq!((after.all.unique, after.all.rejected), (200, 0));
        assert!((1..=4).contains(&after.in_flight_max), "{} at once over 4 connections", after.in_flight_max);
        assert_eq!(after.per_second.values().sum::<u64>(), 200);
    });
}

async fn refuse_every_second_request(listener: TcpListener) {
    listener.set_nonblocking(true).expect("non-blocking");
    let listener = tokio::net::TcpListener::from_std(listener).expect("registered");
    let requests = Arc::new(AtomicU64::new(0));
    while let Ok((stream, _)) = listener.accept().await {
        let requests = Arc::clone(&requests);
        tokio::spawn(http::serve_connection(stream, move |request| {
            let refused = requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            async move {
                http::read_body(request.into_body()).await.expect("a body");
                if !refused {
                    return http::status(StatusCode::ACCEPTED);
                }
                let refusal =
                    Response::builder().status(StatusCode::TOO_MANY_REQUESTS).header("retry-after", "0");
                refusal.body(Default::default()).expect("a legal answer")
            }
        }));
    }
}
