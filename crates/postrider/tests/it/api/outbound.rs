//! Events that are sent through the API: one by one, in batches, later and for a time, and as CloudEvents.

use crate::rig::{Api, Reply, Sink, Site, api::text};
use postrider_core::limits::{BATCH_DELIVERIES_MAX, BATCH_LINES_MAX};
use serde_json::{Value, json};

/// Sends an event that is new; gives its id.
fn send(api: &Api, event: &Value) -> String {
    text(&api.post("/v1/outbound-events", event).data(201)["id"])
}

fn event(payload: &Value) -> Value {
    json!({ "event_type": "order.created", "payload": payload })
}

#[test]
fn an_event_sent_through_the_api_is_delivered_and_shown_as_outbound() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let (source, path) = api.source();
    let inbound = api.send(&path, &[], b"{}");
    let mut new = event(&json!("{\"total\": 1}"));
    new["external_event_id"] = json!("order-7");
    new["headers"] = json!({ "X-Shop": "north" });
    new["priority"] = json!(1);
    let answer = api.post("/v1/outbound-events", &new).data(201);
    assert_eq!(answer["status"], "queued");
    let id = text(&answer["id"]);
    let shown = api.event_once(&id, "delivered");
    let found = &shown["event"];
    for (field, value) in [
        ("direction", json!("outbound")),
        ("source_id", Value::Null),
        ("event_type", json!("order.created")),
        ("external_event_id", json!("order-7")),
        ("body", json!("{\"total\": 1}")),
    ] {
        assert_eq!(found[field], value, "{field}");
    }
    assert_eq!(found["deliveries"][0]["priority"], 1);
    let arrival =
        sink.wait_for("/in", 2).into_iter().find(|arrival| arrival.body == b"{\"total\": 1}").unwrap();
    assert_eq!(arrival.headers.get("x-shop"), Some("north"));
    assert_eq!(arrival.headers.get("content-type"), Some("application/json"));
    let listed = |path: &str| {
        let page = api.get(path).data(200);
        page["items"].as_array().unwrap().iter().map(|event| text(&event["id"])).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listed("/v1/outbound-events"), id);
    assert_eq!(listed("/v1/events?direction=outbound"), id);
    assert_eq!(listed("/v1/events?direction=inbound"), inbound);
    assert_eq!(listed(&format!("/v1/events?source_id={source}")), inbound);
    assert_eq!(api.get(&format!("/v1/outbound-events/{id}")).data(200), shown);
    assert_eq!(api.get(&format!("/v1/outbound-events/{inbound}")).status, 404);
    assert_eq!(api.post(&format!("/v1/outbound-events/{inbound}/replay"), &json!({})).status, 404);
    let again = api.call("POST", &format!("/v1/outbound-events/{id}/replay"), &[], b"").data(202);
    let again = api.event_once(&text(&again["replay_event_id"]), "delivered");
    assert_eq!(
        (&again["event"]["replay_of"], &again["event"]["direction"]),
        (&json!(id), &json!("outbound"))
    );
}

#[test]
fn a_key_of_the_account_is_named_as_the_sender() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let key = api.post("/v1/api-keys", &json!({ "name": "shop" })).data(201);
    let id = send(&api.with_key(&text(&key["key"])), &event(&json!(1)));
    assert_eq!(api.event(&id)["event"]["created_by"], key["id"]);
    let by_operator = send(&api, &event(&json!(1)));
    assert!(api.event(&by_operator)["event"]["created_by"].is_null());
}

#[test]
fn routes_of_a_source_take_nothing_from_the_api() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (source, _) = api.source();
    let destination = api.make("/v1/destinations", &json!({ "name": "in", "url": sink.url("/in") }));
    api.make("/v1/routes", &json!({ "destination_id": destination, "source_id": source }));
    let answer = api.post("/v1/outbound-events", &event(&json!(1))).data(201);
    assert_eq!(answer["status"], "accepted");
}

#[test]
fn a_repetition_is_the_same_event_and_another_body_a_conflict() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let named = |payload: u64| json!({ "event_type": "a", "payload": payload, "external_event_id": "k" });
    let first = send(&api, &named(1));
    let again = api.post("/v1/outbound-events", &named(1)).data(200);
    assert_eq!(again, json!({ "id": first, "status": "accepted", "note": "duplicate" }));
    assert_eq!(api.post("/v1/outbound-events", &named(2)).code(409), "idempotency_conflict");
    // A source's keys are its own.
    let (_, path) = api.source();
    assert_ne!(api.send(&path, &[("idempotency-key", "k")], b"1"), first);
    let body = event(&json!(1)).to_string();
    let by_header = |key: &str| {
        let headers = [("idempotency-key", key), ("content-type", "application/json")];
        let answer = api.call("POST", "/v1/outbound-events", &headers, body.as_bytes());
        (answer.status, text(&answer.json()["data"]["id"]))
    };
    let (made, again, other) = (by_header("h"), by_header("h"), by_header("i"));
    assert_eq!((made.0, again.0, other.0), (201, 200, 201));
    assert!(made.1 == again.1 && made.1 != other.1);
}

#[test]
fn a_delayed_event_waits_for_its_time_also_over_a_restart() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let mut far = event(&json!("far"));
    far["deliver_at"] = json!(in_seconds(86_400));
    let far = send(&api, &far);
    let mut soon = event(&json!("soon"));
    soon["deliver_at"] = json!(in_seconds(4));
    let soon = send(&api, &soon);
    let now = send(&api, &event(&json!("now")));
    api.event_once(&now, "delivered");
    let waits = api.event(&far);
    assert_eq!(waits["event"]["status"], "queued");
    assert_eq!(waits["event"]["next_attempt_at"], waits["event"]["deliver_at"]);
    assert_eq!(sink.count(), 1, "what is due goes first, whatever came before it");
    gateway.kill();
    let gateway = site.start();
    let api = gateway.api();
    api.event_once(&soon, "delivered");
    assert_eq!(api.event(&far)["event"]["status"], "queued");
    let (_, path) = api.source();
    let at = in_seconds(86_400);
    let headers = [("postrider-deliver-at", at.as_str()), ("postrider-ttl", "60")];
    let by_header = api.event(&api.send(&path, &headers, b"later"));
    assert_eq!(by_header["event"]["deliver_at"], json!(at));
    assert!(by_header["event"]["expires_at"].is_string());
    assert_eq!(api.call("POST", &path, &[("postrider-ttl", "0")], b"").code(422), "invalid_field");
    sink.wait_for("/in", 2);
    assert_eq!(sink.count(), 2);
}

/// RFC 3339, so far from now.
fn in_seconds(seconds: u64) -> String {
    use postrider_core::time::Timestamp;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_ms(now.as_millis() as u64 + seconds * 1000).to_string()
}

#[test]
fn what_expires_is_a_dead_letter_without_an_attempt_also_over_a_restart() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    api.post(&format!("/v1/destinations/{destination}/pause"), &json!({}));
    let mut short = event(&json!("short"));
    short["ttl_seconds"] = json!(1);
    let short = send(&api, &short);
    let lasting = send(&api, &event(&json!("lasting")));
    gateway.kill();
    let gateway = site.start();
    let api = gateway.api();
    let expires_at = text(&api.event(&short)["event"]["expires_at"]);
    crate::rig::wait_until("it is past its time", || (in_seconds(0) > expires_at).then_some(()));
    assert_eq!(api.event(&short)["event"]["status"], "queued", "while it is not to be sent, it only waits");
    api.post(&format!("/v1/destinations/{destination}/resume"), &json!({}));
    let dead = api.event_once(&short, "dead_letter");
    assert_eq!(dead["event"]["deliveries"][0]["reason"], "expired");
    assert_eq!(
        (dead["attempts"].as_array().unwrap().len(), &dead["event"]["attempts_count"]),
        (0, &json!(0))
    );
    api.event_once(&lasting, "delivered");
    assert_eq!(sink.arrivals_at("/in").len(), 1);
    let letters = api.get("/v1/dead-letters?reason=expired").data(200);
    assert_eq!(letters["items"][0]["event_id"], json!(short));
}

#[test]
fn a_retry_that_would_come_too_late_is_given_up_at_once() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/in", Reply::status(500));
    let gateway = site.start();
    let api = gateway.api();
    api.destination(
        &sink.url("/in"),
        &json!({ "retry_policy": { "delays_seconds": [3600], "jitter": "none" } }),
    );
    let mut short = event(&json!("short"));
    short["ttl_seconds"] = json!(60);
    let dead = api.event_once(&send(&api, &short), "dead_letter");
    assert_eq!(dead["event"]["deliveries"][0]["reason"], "expired");
    assert_eq!(dead["event"]["attempts_count"], 1);
}

#[test]
fn a_batch_answers_line_by_line() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let line = |id: &str, payload: &str| {
        format!(r#"{{"event_type":"a.b","payload":"{payload}","external_event_id":"{id}"}}"#)
    };
    let lines =
        [line("1", "one"), "{}".into(), line("2", "two"), line("1", "one"), line("2", "other"), "no".into()];
    let answer = api.call("POST", "/v1/events/batch", &[], lines.join("\n").as_bytes()).data(202);
    let lines = answer.as_array().unwrap();
    let words: Vec<&str> =
        lines.iter().map(|line| line["status"].as_str().or(line["code"].as_str()).unwrap()).collect();
    assert_eq!(words, ["queued", "invalid_field", "queued", "accepted", "idempotency_conflict", "malformed"]);
    assert_eq!((&lines[1]["field"], &lines[3]["id"]), (&json!("event_type"), &lines[0]["id"]));
    for line in [&lines[0], &lines[2]] {
        api.event_once(&text(&line["id"]), "delivered");
    }
    assert_eq!(sink.arrivals_at("/in").len(), 2);
    assert_eq!(api.get("/v1/outbound-events").data(200)["total"], 2);
    assert_eq!(api.call("POST", "/v1/events/batch", &[], b"\n").code(400), "malformed");
    let endless = "{}\n".repeat(1001);
    assert_eq!(api.call("POST", "/v1/events/batch", &[], endless.as_bytes()).code(400), "malformed");
    let most: String = (0..1000).map(|number| format!("{}\n", line(&format!("m{number}"), "x"))).collect();
    let answer = api.call("POST", "/v1/events/batch", &[], most.as_bytes()).data(202);
    assert!(answer.as_array().unwrap().iter().all(|line| line["status"] == "queued"));
}

#[test]
fn a_batch_for_too_many_deliveries_is_refused_as_a_whole() {
    const DESTINATIONS: usize = BATCH_DELIVERIES_MAX / BATCH_LINES_MAX + 1;
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    (0..DESTINATIONS).for_each(|_| drop(api.destination("http://127.0.0.1:9/", &json!({}))));
    let lines = format!("{}\n", event(&json!("x"))).repeat(BATCH_LINES_MAX);
    let answer = api.call("POST", "/v1/events/batch", &[], lines.as_bytes());
    assert_eq!(answer.code(413), "body_too_large");
    assert!(answer.refusal(413).contains(&BATCH_DELIVERIES_MAX.to_string()), "{answer}");
    assert_eq!(api.get("/v1/outbound-events").data(200)["total"], 0);
}

#[test]
fn cloud_events_tell_their_type_and_key_and_go_on_as_they_are() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let (_, path) = api.source();
    let body = br#"{ "specversion" : "1.0", "type":"com.shop.order", "id":"7", "source":"/shop", "data":{"a":1.0} }"#;
    let structured = [("content-type", "application/cloudevents+json; charset=utf-8")];
    let binary = [
        ("content-type", "text/plain"),
        ("ce-specversion", "1.0"),
        ("ce-type", "com.shop.order"),
        ("ce-id", "7"),
        ("ce-source", "/shop"),
        ("ce-trace", "t-1"),
    ];
    for path in [path.as_str(), "/v1/outbound-events"] {
        let answer = api.call("POST", path, &structured, body);
        let id = text(&answer.json()["data"]["id"]);
        let shown = api.event_once(&id, "delivered");
        assert_eq!(shown["event"]["event_type"], "com.shop.order", "{path}");
        assert_eq!(shown["event"]["external_event_id"], "7", "{path}");
        let again = api.call("POST", path, &structured, body).json();
        assert_eq!(
            (&again["data"]["id"], &again["data"]["note"]),
            (&json!(id), &json!("duplicate")),
            "{path}"
        );
        assert_eq!(api.call("POST", path, &binary, b"plain").code(409), "idempotency_conflict", "{path}");
        let elsewhere: Vec<_> = binary
            .iter()
            .map(|(name, value)| (*name, if *name == "ce-source" { "/other" } else { value }))
            .collect();
        let id = text(&api.call("POST", path, &elsewhere, b"plain").json()["data"]["id"]);
        api.event_once(&id, "delivered");
        for missing in ["ce-specversion", "ce-type", "ce-id", "ce-source"] {
            let rest: Vec<_> = binary.iter().filter(|(name, _)| *name != missing).copied().collect();
            let refused = api.call("POST", path, &rest, b"plain");
            assert_eq!(refused.code(422), "invalid_field");
            assert_eq!(refused.json()["field"], missing, "{path}");
        }
    }
    let arrivals = sink.wait_for("/in", 4);
    let whole = arrivals.iter().filter(|arrival| arrival.body == body);
    assert_eq!(whole.clone().count(), 2);
    assert!(whole.clone().all(|arrival| {
        arrival.headers.get("content-type") == Some("application/cloudevents+json; charset=utf-8")
    }));
    let plain: Vec<_> = arrivals.iter().filter(|arrival| arrival.body == b"plain").collect();
    assert_eq!(plain.len(), 2);
    assert!(plain.iter().all(|arrival| arrival.headers.get("ce-trace") == Some("t-1")));
    assert!(plain.iter().all(|arrival| arrival.headers.get("ce-id") == Some("7")));
}
