//! Schemas of a tenant that take all the CPU that they may: whoever looks whether the gateway is well does not wait for them.

use crate::rig::api::text;
use crate::rig::client::{Client, request};
use crate::rig::{Api, Site};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// At the same time.
const SENDERS: usize = 4;
/// Answered while each of the events is looked at. Where that is done on the thread that serves, it is one at most.
const PROBES_MIN: usize = 3;

/// Each element is held against all of these, and is the last.
fn worst_schema() -> Value {
    let each: Vec<Value> = (0..500).map(|number| json!({ "const": number })).collect();
    json!({ "items": { "anyOf": each } })
}

fn is_well(api: &Api) -> bool {
    let probe = || Client::connect(api.address)?.exchange(&request("GET", "/healthz", &[], b""));
    probe().is_ok_and(|answer| answer.status == 200)
}

#[test]
fn the_worst_schema_of_a_tenant_keeps_no_probe_waiting() {
    // One thread that serves: what is done on it is waited for.
    let site = Site::new().with(&["--workers", "1"]);
    let gateway = site.start();
    let made = gateway.api().post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let api = gateway.api().with_key(&text(&made["api_key"]["key"]));
    api.make("/v1/event-types", &json!({ "event_type": "worst", "schema": worst_schema() }));
    let (_, path) = api.source();
    let body = format!("[{}499]", "499,".repeat(400_000));
    let (ended, began) = (AtomicUsize::new(0), Instant::now());
    let (mut probes, mut longest) = (0, Duration::ZERO);
    thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                let answer = api.call("POST", &path, &[("x-event-type", "worst")], body.as_bytes());
                assert!([422, 503].contains(&answer.status), "{answer}");
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        while ended.load(Ordering::Relaxed) < SENDERS {
            let asked = Instant::now();
            assert!(is_well(&api));
            longest = longest.max(asked.elapsed());
            probes += 1;
        }
    });
    let whole = began.elapsed();
    println!("{probes} probes in {whole:?}, the longest took {longest:?}");
    assert!(probes >= PROBES_MIN * SENDERS, "{probes} probes were answered in {whole:?}");
}

#[test]
fn a_schema_that_would_take_long_to_compile_is_refused_before_it_does() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let pattern = format!("(?i)[{}]", "\\pL".repeat(15_000));
    let refused =
        api.post("/v1/event-types", &json!({ "event_type": "worst", "schema": { "pattern": pattern } }));
    assert!(refused.refusal(422).contains("bytes of patterns"), "{refused}");
}
