//! What happens, told as it happens.

use crate::rig::api::text;
use crate::rig::stream::Stream;
use crate::rig::{Api, Reply, Sink, Site};
use serde_json::{Value, json};

/// The ids of the next events that are told as accepted.
fn accepted(stream: &mut Stream, count: usize) -> Vec<String> {
    (0..count).map(|_| stream.next_of("accepted").id.expect("an accepted event has an id")).collect()
}

fn tenant(api: &Api, name: &str) -> (Api, String) {
    let made = api.post("/v1/accounts", &json!({ "name": name })).data(201);
    (api.with_key(&text(&made["api_key"]["key"])), text(&made["account"]["id"]))
}

#[test]
fn a_stream_tells_of_an_event_from_its_acceptance_to_its_end() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.next("/in", [Reply::status(500)]);
    let gateway = site.start();
    let api = gateway.api();
    let (source, path) = api.source();
    let policy = json!({ "delays_seconds": [0.05], "jitter": "none", "final_statuses": ["4xx"] });
    let destination = api.destination(&sink.url("/in"), &json!({ "retry_policy": policy }));
    let (mut stream, _) = api.stream("", None);
    let id = api.send(&path, &[("x-event-type", "order.paid")], b"twelve bytes");
    let told = stream.next();
    assert_eq!((told.event.as_str(), told.id.as_deref()), ("accepted", Some(id.as_str())));
    assert_eq!((&told.data["source_id"], &told.data["event_type"]), (&json!(source), &json!("order.paid")));
    assert_eq!(told.data["body_bytes"], 12);
    assert_eq!(told.data["deliveries"][0]["destination_id"], json!(destination));
    assert_eq!(told.data["deliveries_count"], 1);
    let (first, second) = (stream.next(), stream.next());
    assert_eq!((first.event.as_str(), second.event.as_str(), &first.id), ("attempt", "attempt", &None));
    assert_eq!(
        (&first.data["response_status"], &first.data["status"]),
        (&json!(500), &json!("retry_scheduled"))
    );
    assert_eq!((&second.data["response_status"], &second.data["status"]), (&json!(200), &json!("delivered")));
    assert_eq!((&second.data["event_id"], &second.data["attempt_number"]), (&json!(id), &json!(2)));
    let shown = api.get(&format!("/v1/deliveries/{}", text(&second.data["delivery_id"]))).data(200);
    assert_eq!(shown["attempts"][1]["id"], second.data["id"], "what is told is on disk");
    sink.always("/in", Reply::status(404));
    api.send(&path, &[], b"{}");
    let death = stream.next_of("dead_letter");
    assert_eq!((&death.data["reason"], &death.data["attempts"]), (&json!("final_answer"), &json!(1)));
}

#[test]
fn a_stream_tells_what_becomes_of_a_destination() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/in", Reply::status(500));
    let gateway = site.start();
    let api = gateway.api();
    let settings = json!({ "circuit": { "threshold": 1, "cooldown_seconds": 60 } });
    let destination = api.destination(&sink.url("/in"), &settings);
    let (mut stream, _) =
        api.stream(&format!("?kind=circuit,destination&destination_id={destination}"), None);
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    let told = stream.next();
    assert_eq!((told.event.as_str(), &told.data["circuit_state"]), ("circuit", &json!("open")));
    let order =
        |call: &str| api.post(&format!("/v1/destinations/{destination}/{call}"), &json!({})).data(200);
    order("pause");
    assert_eq!(stream.next().data["status"], "paused");
    order("resume");
    assert_eq!(stream.next().data["status"], "active");
    sink.always("/in", Reply::status(410));
    api.post(&format!("/v1/destinations/{destination}/circuit"), &json!({ "state": "closed" })).data(200);
    assert_eq!(stream.next().data["circuit_state"], "closed");
    api.send(&path, &[], b"{}");
    let told = stream.next_of("destination");
    assert_eq!(
        (&told.data["status"], &told.data["destination_id"]),
        (&json!("disabled"), &json!(destination))
    );
    assert!(text(&told.data["disabled_reason"]).contains("410 Gone"), "{told:?}");
}

#[test]
fn a_stream_goes_on_behind_the_last_event_without_loss_or_repetition() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let send = |api: &Api, count: usize| -> Vec<String> {
        (0..count).map(|_| api.send(&path, &[("x-event-type", "a.b")], b"{}")).collect()
    };
    send(&api, 3);
    let (stream, open) = api.stream("?kind=accepted", None);
    drop(stream);
    // Read by nobody, and more than a page.
    let missed = send(&api, 250);
    let (mut stream, _) = api.stream("?event_type=a.*", open.id.as_deref());
    let live = send(&api, 2);
    assert_eq!(accepted(&mut stream, 252), [missed.clone(), live.clone()].concat());
    gateway.kill();
    assert!(stream.next_if_any().is_none());
    let gateway = site.start();
    let api = gateway.api();
    let (mut stream, _) = api.stream("", Some(&missed[249]));
    let last = send(&api, 1);
    assert_eq!(accepted(&mut stream, 3), [live, last].concat(), "also when the gateway was killed");
}

#[test]
fn a_stream_shows_an_account_its_own_and_the_operator_all() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let ((ours, our_id), (theirs, their_id)) = (tenant(&admin, "ours"), tenant(&admin, "theirs"));
    let (mut of_ours, _) = ours.stream("", None);
    let (mut of_theirs, _) = admin.stream(&format!("?account_id={their_id}"), None);
    let (mut of_all, open) = admin.stream("?account_id=all", None);
    assert_eq!(open.id, None, "there is no way back into a stream of all");
    let send = |api: &Api| {
        let (_, path) = api.source();
        api.send(&path, &[], b"{}")
    };
    let (first, second) = (send(&theirs), send(&ours));
    assert_eq!(accepted(&mut of_ours, 1).concat(), second);
    assert_eq!(accepted(&mut of_theirs, 1).concat(), first);
    let all: Vec<Value> = (0..2).map(|_| of_all.next_of("accepted").data["id"].clone()).collect();
    assert_eq!(all, [json!(first), json!(second)]);
    for (query, status) in [
        (format!("account_id={our_id}"), 0),
        (format!("account_id={their_id}"), 404),
        ("account_id=all".to_owned(), 422),
        ("account_id=x".to_owned(), 422),
        ("kind=".to_owned(), 422),
        ("kind=accepted,nothing".to_owned(), 422),
        ("destination_id=x".to_owned(), 422),
        ("since=2026-01-01T00:00:00Z".to_owned(), 422),
    ] {
        match status {
            0 => drop(ours.stream(&format!("?{query}"), None)),
            status => assert_eq!(ours.get(&format!("/v1/stream?{query}")).status, status, "{query}"),
        }
    }
    let refused = ours.call("GET", "/v1/stream", &[("last-event-id", "yesterday")], b"");
    assert_eq!(refused.refusal(422), "Last-Event-ID must be the id of an event, evt_….");
}

#[test]
fn a_reader_that_is_too_slow_is_told_how_much_it_missed_and_delays_nobody() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (mut stream, _) = api.stream("", None);
    let (long, sent) = ("x".repeat(256), 20_000);
    for batch in 0..sent / 1000 {
        let line = |number: usize| {
            json!({ "event_type": long, "payload": 1, "external_event_id": format!("{number:0256}") })
                .to_string()
        };
        let lines: Vec<String> = (0..1000).map(|number| line(batch * 1000 + number)).collect();
        api.call("POST", "/v1/events/batch", &[], lines.join("\n").as_bytes()).data(202);
    }
    let (mut told, mut missed) = (0, 0);
    while told + missed < sent as u64 {
        let frame = stream.next();
        match frame.event.as_str() {
            "lagged" => missed += frame.data["missed"].as_u64().expect("it is known how many"),
            _ => told += 1,
        }
    }
    assert_eq!(told + missed, sent as u64);
    assert!(missed > 0, "all of it fitted somewhere: send more");
}

#[test]
fn streams_have_a_limit_and_end_with_their_key_and_with_the_gateway() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let (ours, _) = tenant(&admin, "ours");
    let mut streams: Vec<Stream> = (0..15).map(|_| ours.stream("", None).0).collect();
    let key = ours.post("/v1/api-keys", &json!({ "name": "short", "scope": "read" })).data(201);
    let (mut of_key, _) = ours.with_key(&text(&key["key"])).stream("", None);
    let refused = ours.get("/v1/stream");
    assert_eq!(refused.code(409), "too_many_streams");
    ours.delete(&format!("/v1/api-keys/{}", text(&key["id"]))).nothing();
    let (_, path) = ours.source();
    while {
        ours.send(&path, &[], b"{}");
        of_key.next_if_any().is_some()
    } {}
    let ended = gateway.stop();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    while streams.pop().is_some_and(|mut stream| {
        while stream.next_if_any().is_some() {}
        true
    }) {}
}
