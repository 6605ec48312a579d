//! Routes that send something else in the place of an event.

use super::destinations::standard_signature;
use crate::rig::{Api, Reply, Sink, Site, api::text};
use serde_json::{Value, json};

/// A destination that is tried again at once, with a route to it; gives the route's path and the signing secret.
fn transformed(api: &Api, sink: &Sink, transform: &str) -> (String, String) {
    let policy = json!({ "delays_seconds": [0.05], "max_attempts": 3, "jitter": "none" });
    let to = json!({ "name": "crm", "url": sink.url("/in"), "retry_policy": policy });
    let to = api.post("/v1/destinations", &to).data(201);
    let route = json!({ "destination_id": to["id"], "transform": transform });
    (format!("/v1/routes/{}", api.make("/v1/routes", &route)), text(&to["signing_secret"]))
}

#[test]
fn what_a_transform_makes_is_sent_and_signed_and_the_event_stays_as_it_came() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let transform = "{'body': {'kind': event.type, 'data': payload.order}, 'headers': {'x-shop': event.source, 'x-old': null}}";
    let (_, secret) = transformed(&api, &sink, transform);
    sink.next("/in", [Reply::status(503)]);
    let sent = r#"{"order": {"b": [1.5, null], "a": "x"}, "card": "4111"}"#;
    let headers =
        [("x-event-type", "order.paid"), ("x-old", "1"), ("content-type", "text/plain"), ("x-kept", "2")];
    let id = api.send(&path, &headers, sent.as_bytes());
    let event = api.event_once(&id, "delivered");
    assert_eq!(event["event"]["body"], sent, "what is stored is what came");
    let arrivals = sink.wait_for("/in", 2);
    for arrival in &arrivals {
        let expected = r#"{"kind":"order.paid","data":{"a":"x","b":[1.5,null]}}"#;
        assert_eq!(String::from_utf8_lossy(&arrival.body), expected, "a retry sends the same bytes");
        let header = |name: &str| arrival.headers.get(name).unwrap_or("none");
        let shown = ["content-type", "x-shop", "x-old", "x-kept"].map(header);
        assert_eq!(shown, ["application/json", "shop", "none", "2"]);
        let signed = format!("{id}.{}.{expected}", header("webhook-timestamp"));
        assert_eq!(header("webhook-signature"), standard_signature(&secret, signed.as_bytes()));
    }
}

#[test]
fn a_transform_that_fails_is_a_dead_letter_at_once_and_sent_when_it_is_mended() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let (route, _) = transformed(&api, &sink, "payload.order");
    let id = api.send(&path, &[], br#"{"other": 5}"#);
    let event = api.event_once(&id, "dead_letter");
    assert_eq!(event["event"]["deliveries"][0]["reason"], "transform_failed");
    let [attempt] = &event["attempts"].as_array().unwrap()[..] else { panic!("one attempt: {event}") };
    assert_eq!((&attempt["outcome"], &attempt["error_kind"]), (&json!("cancelled"), &json!("transform")));
    let sentence = text(&attempt["error_message"]);
    assert!(
        sentence.starts_with("The transform of rte_")
            && sentence.ends_with(" failed: there is no field order."),
        "{sentence}"
    );
    assert_eq!(sink.count(), 0, "nothing was sent");
    let letters = api.get("/v1/dead-letters?reason=transform_failed").data(200);
    let delivery = text(&letters["items"][0]["delivery_id"]);
    api.patch(&route, &json!({ "transform": "payload.other" })).data(200);
    api.post(&format!("/v1/dead-letters/{delivery}/replay"), &json!({})).data(202);
    assert_eq!(sink.wait_for("/in", 1)[0].body, b"5");
    api.patch(&route, &json!({ "transform": null })).data(200);
    api.send(&path, &[], b"as it is");
    assert_eq!(sink.wait_for("/in", 2)[1].body, b"as it is");
}

#[test]
fn a_bad_transform_is_refused_with_its_place() {
    let site = Site::closed();
    let gateway = site.start();
    let api = gateway.api();
    let to = api.make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    for (transform, place) in [
        (json!("{'body': order}"), "line 1, column 10: order is not known"),
        (
            json!("{'headers': {'Host': 'x'}}"),
            "line 1, column 14: this header is one that the gateway sets itself",
        ),
        (json!("{'headers': 5}"), "line 1, column 13: a whole number cannot be used like this"),
        (json!(format!("'{}'", "x".repeat(5000))), "it must be 1 to 4096 bytes long"),
        (json!({ "body": 1 }), "must be a text"),
    ] {
        let answer = api.post("/v1/routes", &json!({ "destination_id": to, "transform": transform }));
        let sentence = answer.refusal(422);
        assert!(sentence.starts_with("transform ") && sentence.contains(place), "{sentence}");
    }
}

#[test]
fn an_event_is_tried_on_the_routes_without_being_taken_in() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let ((source, _), (other, _)) = (api.source(), api.source());
    let settings = json!({
        "name": "crm", "url": sink.url("/in"), "ordering": "by_key", "ordering_key": "payload.customer",
        "custom_headers": { "x-secret": "s3cret" }, "auth_config": { "type": "bearer", "token": "t0ken" },
    });
    let to = api.make("/v1/destinations", &settings);
    let route = |fields: Value| {
        let mut route = json!({ "destination_id": to });
        fields.as_object().unwrap().iter().for_each(|(field, value)| route[field] = value.clone());
        api.make("/v1/routes", &route)
    };
    route(json!({ "active": false }));
    route(json!({ "source_id": other }));
    route(json!({ "event_type_pattern": "order.*" }));
    route(json!({ "filter": "payload.amount > 5000" }));
    route(json!({ "filter": "payload.missing > 1" }));
    let rules = json!([{ "header": "x-none" }, { "when": "payload.amount > 1", "priority": 2 }]);
    let taking = route(
        json!({ "priority_rules": rules, "transform": "{'body': {'n': payload.amount}, 'headers': {'x-n': 'y'}}" }),
    );
    route(json!({}));
    let sample = json!({
        "source_id": source, "event_type": "payment.failed", "headers": { "X-Kept": "1", "Cookie": "a=b" },
        "payload": { "amount": 1500, "customer": "c-7" },
    });
    let tried = api.post("/v1/routes/test", &sample).data(200);
    let routes = tried["routes"].as_array().unwrap();
    let reasons: Vec<&str> = routes.iter().map(|route| route["reason"].as_str().unwrap_or("taken")).collect();
    let expected =
        ["inactive", "other_source", "other_type", "filter_false", "filter_error", "taken", "already_routed"];
    assert_eq!(reasons, expected);
    assert_eq!(routes[4]["error"], "The filter fails: there is no field missing.");
    assert_eq!(routes[6]["routed_by"], json!(taking));
    let taken = &routes[5];
    assert_eq!((&taken["matches"], &taken["route_id"]), (&json!(true), &json!(taking)));
    assert_eq!(
        (&taken["priority"], &taken["priority_rule"], &taken["ordering_key"]),
        (&json!(2), &json!(1), &json!("c-7"))
    );
    let request = &taken["request"];
    assert_eq!((&request["url"], &request["body"]), (&json!(sink.url("/in")), &json!("{\"n\":1500}")));
    let header = |name: &str| request["headers"][name].as_str().unwrap_or("none");
    let shown = ["content-type", "x-n", "x-kept", "cookie", "x-secret", "authorization", "webhook-signature"]
        .map(header);
    let redacted = "[redacted]";
    assert_eq!(shown, ["application/json", "y", "1", "none", redacted, redacted, redacted]);
    assert!(!tried.to_string().contains("s3cret") && !tried.to_string().contains("t0ken"));
    assert_eq!(
        (sink.count(), &api.get("/v1/events").data(200)["total"]),
        (0, &json!(0)),
        "nothing is stored or sent"
    );
}

#[test]
fn a_route_that_is_not_made_is_tried_alone() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let to = api.destination(&sink.url("/in"), &json!({}));
    let draft = json!({ "destination_id": to, "transform": "payload.a", "priority": 1 });
    let tried =
        api.post("/v1/routes/test", &json!({ "payload": "{\"a\": \"text\"}", "route": draft })).data(200);
    assert_eq!(tried["routes"].as_array().map(Vec::len), Some(1));
    let judged = &tried["routes"][0];
    assert!(judged.get("route_id").is_none() && judged["priority"] == 1, "{judged}");
    assert_eq!((&judged["request"]["body"], &judged["request"]["body_bytes"]), (&json!("text"), &json!(4)));
    let tried = api.post("/v1/routes/test", &json!({ "payload": 5, "route": draft })).data(200);
    let error = text(&tried["routes"][0]["error"]);
    assert!(
        error.starts_with("Nothing can be sent: the transform fails: ")
            && tried["routes"][0]["matches"] == true,
        "{error}"
    );
    assert_eq!(api.get("/v1/routes").data(200).as_array().map(Vec::len), Some(1), "it is not made");
    for (body, field) in [
        (json!({ "route": { "destination_id": to, "filter": "x" } }), "route.filter"),
        (json!({ "route": { "destination_id": "dst_0000000000000" } }), "route.destination_id"),
        (json!({ "payload": "no base64", "payload_encoding": "base64" }), "payload"),
        (json!({ "payload": { "a": 1 }, "payload_encoding": "base64" }), "payload"),
        (json!({ "payload": "text", "payload_encoding": "hex" }), "payload_encoding"),
        (json!({ "route": { "name": "x" } }), "route.name"),
        (json!({ "route": 5 }), "route"),
        (json!({ "source_id": "src_0000000000000" }), "source_id"),
        (json!({ "event_type": "a b" }), "event_type"),
        (json!({ "headers": { "a b": "x" } }), "headers"),
        (json!({ "headers": { "a": 5 } }), "headers"),
        (json!({ "headers": { "a": "x".repeat(20_000) } }), "headers"),
    ] {
        let answer = api.post("/v1/routes/test", &body);
        assert!(answer.refusal(422).starts_with(&format!("{field} ")), "{answer}");
        assert_eq!(answer.json()["field"], field);
    }
    let missing = api.post("/v1/routes/test", &json!({ "route": {} }));
    assert_eq!(missing.refusal(400), "route.destination_id is missing.");
    let made = api.with_key("").post("/v1/accounts", &json!({ "name": "theirs" })).data(201);
    let theirs = api.with_key(&text(&made["api_key"]["key"]));
    theirs.post("/v1/routes/test", &json!({ "route": draft })).refusal(422);
    assert_eq!(theirs.post("/v1/routes/test", &json!({})).data(200)["routes"], json!([]));
}
