//! One trace from the acceptance of an event to its last attempt.

use crate::rig::api::text;
use crate::rig::otlp::{GrpcCollector, SpanSeen, spans};
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::json;

pub(crate) const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
pub(crate) const PARENT: &str = "b7ad6b7169203331";

/// Trace, span and flags of a `traceparent`.
pub(crate) fn parts(header: &str) -> [String; 3] {
    let parts: Vec<&str> = header.split('-').collect();
    let ["00", trace, span, flags] = parts[..] else { panic!("no traceparent: {header}") };
    [trace, span, flags].map(str::to_owned)
}

/// An event that fails once and is then delivered, and the spans that the receiver was told.
fn deliver(api: &Api, sink: &Sink, traceparent: &str) -> (String, Vec<[String; 3]>) {
    sink.next("/in", [Reply::status(500)]);
    let policy = json!({ "retry_policy": { "delays_seconds": [0.05], "jitter": "none" } });
    api.destination(&sink.url("/in"), &policy);
    let (_, path) = api.source();
    let event = api.send(&path, &[("traceparent", traceparent), ("tracestate", "a=1")], b"{}");
    let told = sink.wait_for("/in", 2);
    let header =
        |name: &'static str| told.iter().map(move |arrival| arrival.headers.get(name).unwrap_or_default());
    assert!(header("tracestate").all(|state| state == "a=1"));
    (event, header("traceparent").map(parts).collect())
}

/// The spans of an event are one tree: the attempts below the acceptance, that below what the sender said.
pub(crate) fn check_tree(found: &[SpanSeen], event: &str, told: &[[String; 3]]) {
    let named = |name: &str| found.iter().filter(|span| span.name == name).cloned().collect::<Vec<_>>();
    let (accepts, attempts) = (named("accept"), named("deliver"));
    assert_eq!((accepts.len(), attempts.len(), found.len()), (1, 2, 3), "{found:#?}");
    assert!(found.iter().all(|span| span.trace == TRACE && span.state == "a=1"));
    assert!(found.iter().all(|span| span.attributes["postrider.event.id"] == event));
    assert!(found.iter().all(|span| span.began_ns <= span.ended_ns && span.began_ns > 0));
    assert_eq!((accepts[0].parent.as_str(), accepts[0].kind), (PARENT, 2));
    assert!(attempts.iter().all(|span| span.parent == accepts[0].id && span.kind == 3));
    let ids: Vec<&String> = attempts.iter().map(|span| &span.id).collect();
    assert_eq!(ids, told.iter().map(|[_, span, _]| span).collect::<Vec<_>>(), "as the receiver was told");
    assert_eq!(attempts[0].error, "The receiver responded 500.");
    assert_eq!((attempts[1].error.as_str(), attempts[1].attributes["postrider.attempt"].as_str()), ("", "2"));
    assert_eq!(attempts[1].attributes["http.response.status_code"], "200");
}

#[test]
fn a_collector_gets_one_trace_by_http() {
    let (sink, collector) = (Sink::start(), Sink::start());
    let site = Site::new().with(&["--otlp-endpoint", &collector.url("/base")]);
    let gateway = site.start();
    let (event, told) = deliver(&gateway.api(), &sink, &format!("00-{TRACE}-{PARENT}-01"));
    let found = wait_until("three spans are collected", || {
        let requests = collector.arrivals_at("/base/v1/traces");
        let found: Vec<SpanSeen> = requests.iter().flat_map(|request| spans(&request.body)).collect();
        (found.len() >= 3).then_some(found)
    });
    check_tree(&found, &event, &told);
    let request = &collector.arrivals_at("/base/v1/traces")[0];
    assert_eq!(request.headers.get("content-type"), Some("application/x-protobuf"));
}

#[test]
fn a_collector_gets_one_trace_by_grpc() {
    let (sink, collector) = (Sink::start(), GrpcCollector::start());
    let url = format!("http://{}", collector.address);
    let site = Site::new().with(&["--otlp-endpoint", &url, "--otlp-protocol", "grpc"]);
    let gateway = site.start();
    let (event, told) = deliver(&gateway.api(), &sink, &format!("00-{TRACE}-{PARENT}-01"));
    check_tree(&collector.wait_for(3), &event, &told);
    assert_eq!(collector.paths()[0], "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
}

#[test]
fn what_is_not_sampled_is_passed_on_and_not_collected() {
    let (sink, collector) = (Sink::start(), Sink::start());
    let site = Site::new().with(&["--otlp-endpoint", &collector.url("")]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, told) = deliver(&api, &sink, &format!("00-{TRACE}-{PARENT}-00"));
    assert!(told.iter().all(|[trace, span, flags]| trace == TRACE && span != PARENT && flags == "00"));
    assert_ne!(told[0], told[1], "each attempt has a span of its own");
    // One that has no trace begins its own, behind those that are left out.
    let event = api.post("/v1/outbound-events", &json!({ "event_type": "a.b", "payload": 1 })).data(201);
    let requests = collector.wait_for("/v1/traces", 1);
    assert_eq!(gateway.stop().code, Some(0));
    let found: Vec<SpanSeen> = collector.arrivals().iter().flat_map(|request| spans(&request.body)).collect();
    let ours = |span: &SpanSeen| span.attributes["postrider.event.id"] == text(&event["id"]);
    assert!(!requests.is_empty() && !found.is_empty() && found.iter().all(ours), "{found:#?}");
    assert!(found.iter().all(|span| span.trace != TRACE));
}

#[test]
fn of_the_traces_that_begin_here_none_is_told_when_none_is_asked_for() {
    let (sink, collector) = (Sink::start(), Sink::start());
    let site = Site::new().with(&["--otlp-endpoint", &collector.url(""), "--otlp-sample-ratio", "0"]);
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/untold"), &json!({}));
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    assert_eq!(sink.wait_for("/untold", 1)[0].headers.get("traceparent"), None);
    // What a sender has sampled is told all the same.
    api.send(&path, &[("traceparent", &format!("00-{TRACE}-{PARENT}-01"))], b"{}");
    sink.wait_for("/untold", 2);
    assert_eq!(gateway.stop().code, Some(0));
    let found: Vec<SpanSeen> = collector.arrivals().iter().flat_map(|request| spans(&request.body)).collect();
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().all(|span| span.trace == TRACE));
}

#[test]
fn a_trace_goes_on_also_without_a_collector_and_what_is_no_trace_does_not() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let (_, path) = api.source();
    let told = |count: usize| {
        let arrivals = sink.wait_for("/in", count);
        arrivals[count - 1].headers.get("traceparent").map(parts)
    };
    api.send(&path, &[("traceparent", &format!("00-{TRACE}-{PARENT}-01"))], b"{}");
    let [trace, span, flags] = told(1).expect("it goes on");
    assert_eq!((trace.as_str(), flags.as_str()), (TRACE, "01"));
    assert_ne!(span, PARENT);
    api.send(&path, &[("traceparent", "00-nonsense"), ("tracestate", "a=1")], b"{}");
    assert_eq!(told(2), None);
    assert_eq!(sink.arrivals_at("/in")[1].headers.get("tracestate"), None, "it says nothing alone");
    api.send(&path, &[], b"{}");
    assert_eq!(told(3), None);
}

#[test]
fn a_collector_that_is_gone_delays_nothing_and_is_said_once() {
    let sink = Sink::start();
    let site = Site::new().with(&["--otlp-endpoint", "http://127.0.0.1:9"]);
    let gateway = site.start();
    deliver(&gateway.api(), &sink, &format!("00-{TRACE}-{PARENT}-01"));
    let said = "failed to send spans to the collector";
    wait_until("it is said", || gateway.err().contains(said).then_some(()));
    let ended = gateway.stop();
    assert_eq!((ended.code, ended.err.matches(said).count()), (Some(0), 1), "{}", ended.err);
}
