//! `/v1/event-types`: events that are not what their type asks for are refused.

use super::{check_fields, check_time};
use crate::rig::{Sink, Site, api::text};
use serde_json::{Value, json};

const FIELDS: &str = "id account_id event_type schema description? created_at";

#[test]
fn an_event_type_is_made_shown_changed_listed_and_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let schema = json!({ "type": "object", "required": ["id"] });
    let made = api
        .post(
            "/v1/event-types",
            &json!({ "event_type": "order.paid", "schema": schema, "description": "Paid." }),
        )
        .data(201);
    check_fields(&made, FIELDS);
    check_time(&made["created_at"]);
    let id = text(&made["id"]);
    assert!(id.starts_with("ety_"));
    let path = format!("/v1/event-types/{id}");
    assert_eq!(api.get(&path).data(200), made);
    assert_eq!(api.get("/v1/event-types").data(200), json!([made]));
    let other = api.make("/v1/event-types", &json!({ "event_type": "order.sent", "schema": {} }));
    let again = api.post("/v1/event-types", &json!({ "event_type": "order.paid", "schema": {} }));
    assert_eq!(again.code(409), "event_type_exists");
    assert!(again.refusal(409).contains(&id), "{again}");
    let other = format!("/v1/event-types/{other}");
    assert_eq!(api.patch(&other, &json!({ "event_type": "order.paid" })).code(409), "event_type_exists");
    let changed = api.patch(
        &path,
        &json!({ "event_type": "order.settled", "schema": { "type": "array" }, "description": null }),
    );
    let changed = changed.data(200);
    assert_eq!(
        (&changed["event_type"], &changed["schema"]),
        (&json!("order.settled"), &json!({ "type": "array" }))
    );
    assert!(changed.get("description").is_none());
    assert_eq!(api.patch(&path, &json!({})).data(200), changed, "nothing asked, nothing changed");
    let theirs = api.with_key("").post("/v1/accounts", &json!({ "name": "theirs" })).data(201);
    let theirs = api.with_key(&text(&theirs["api_key"]["key"]));
    theirs.get(&path).refusal(404);
    theirs.patch(&path, &json!({ "schema": {} })).refusal(404);
    theirs.delete(&path).refusal(404);
    assert_eq!(theirs.get("/v1/event-types").data(200), json!([]));
    theirs.make("/v1/event-types", &json!({ "event_type": "order.settled", "schema": {} }));
    api.delete(&path).nothing();
    api.get(&path).refusal(404);
}

#[test]
fn an_event_that_is_not_what_its_type_asks_for_is_refused_with_the_place() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let schema = json!({
        "type": "object", "required": ["lines"],
        "properties": { "lines": { "type": "array", "items": { "$ref": "#/$defs/line" } } },
        "$defs": { "line": { "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } } } },
    });
    let id = api.make("/v1/event-types", &json!({ "event_type": "order.paid", "schema": schema }));
    let paid = [("x-event-type", "order.paid")];
    let refused = |body: &str, field: &str, says: &str| {
        let answer = api.call("POST", &path, &paid, body.as_bytes());
        assert_eq!(answer.code(422), "schema_mismatch");
        assert_eq!(answer.json()["field"], field, "{answer}");
        assert!(answer.refusal(422).contains(says), "{answer}");
    };
    refused("{}", "", "\"lines\" is a required property");
    refused("no JSON", "", "it is not JSON");
    refused("", "", "it is not JSON");
    refused(r#"{"lines": [{"n": 1}, {"n": 0}]}"#, "/lines/1/n", "at /lines/1/n: ");
    refused(r#"{"lines": {}}"#, "/lines", "is not of type \"array\"");
    assert_eq!(api.get("/v1/events").data(200)["total"], 0, "what is refused is not stored");
    let sample = json!({ "event_type": "order.paid", "payload": { "lines": 5 } });
    let tried = api.post("/v1/routes/test", &sample).data(200);
    assert_eq!(tried["schema_error"]["field"], "/lines", "the dry run tells it too");
    let good = api.send(&path, &paid, br#"{"lines": [{"n": 1}]}"#);
    api.event_once(&good, "delivered");
    api.send(&path, &[("x-event-type", "order.paid.late")], b"anything");
    api.send(&path, &[], b"anything");
    gateway.kill();
    let gateway = site.start();
    let api = gateway.api();
    let answer = api.call("POST", &path, &paid, b"{}");
    assert_eq!(answer.code(422), "schema_mismatch", "a schema survives a kill");
    api.patch(&format!("/v1/event-types/{id}"), &json!({ "schema": {} })).data(200);
    api.send(&path, &paid, b"{}");
    api.delete(&format!("/v1/event-types/{id}")).nothing();
    api.send(&path, &paid, b"no JSON");
}

#[test]
fn a_large_event_is_checked_elsewhere_and_taken_or_refused_whichever_way_it_comes() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let schema = json!({ "items": { "type": "integer" } });
    api.make("/v1/event-types", &json!({ "event_type": "order.paid", "schema": schema }));
    let (good, mut bad) = (vec![json!(1); 20_000], vec![json!(1); 20_000]);
    bad.push(json!("x"));
    let paid = [("x-event-type", "order.paid")];
    let sample = |payload: &[Value]| json!({ "event_type": "order.paid", "payload": payload });

    let taken = api.send(&path, &paid, json!(good).to_string().as_bytes());
    api.event_once(&taken, "delivered");
    let answer = api.call("POST", &path, &paid, json!(bad).to_string().as_bytes());
    assert_eq!((answer.code(422).as_str(), &answer.json()["field"]), ("schema_mismatch", &json!("/20000")));

    api.post("/v1/outbound-events", &sample(&good)).data(201);
    let answer = api.post("/v1/outbound-events", &sample(&bad));
    assert_eq!((answer.code(422).as_str(), &answer.json()["field"]), ("schema_mismatch", &json!("/20000")));

    let lines = format!("{}\n{}\n", sample(&good), sample(&bad));
    let ndjson = [("content-type", "application/x-ndjson")];
    let both = api.call("POST", "/v1/events/batch", &ndjson, lines.as_bytes()).data(202);
    assert!(both[0]["id"].is_string() && both[1]["code"] == "schema_mismatch", "{both}");

    let tried = api.post("/v1/routes/test", &sample(&bad)).data(200);
    assert_eq!(tried["schema_error"]["field"], "/20000");
    assert!(api.post("/v1/routes/test", &sample(&good)).data(200).get("schema_error").is_none());
}

#[test]
fn an_event_that_takes_too_long_to_check_is_refused() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let each: Vec<Value> = (0..500).map(|number| json!({ "const": number })).collect();
    let schema = json!({ "items": { "anyOf": each } });
    api.make("/v1/event-types", &json!({ "event_type": "order.paid", "schema": schema }));
    let large = format!("[{}499]", "499,".repeat(100_000));
    let answer = api.call("POST", &path, &[("x-event-type", "order.paid")], large.as_bytes());
    assert_eq!(answer.code(422), "schema_mismatch");
    let says = "a body of 400005 bytes takes too long to check by this schema";
    assert!(answer.refusal(422).contains(says), "{answer}");
    api.send(&path, &[("x-event-type", "order.paid")], b"[1, 2, 499]");
}

#[test]
fn what_is_no_schema_is_refused() {
    let site = Site::closed();
    let gateway = site.start();
    let api = gateway.api();
    for (body, field, says) in [
        (json!({ "schema": {} }), "event_type", "is missing"),
        (json!({ "event_type": "a" }), "schema", "is missing"),
        (json!({ "event_type": "a b", "schema": {} }), "event_type", "must be"),
        (json!({ "event_type": "a", "schema": "x" }), "schema", "must be a JSON Schema"),
        (
            json!({ "event_type": "a", "schema": { "type": "x" } }),
            "schema",
            "is not a legal JSON Schema at \"/type\"",
        ),
        (
            json!({ "event_type": "a", "schema": { "$ref": "https://example.com/s" } }),
            "schema",
            "nothing is fetched",
        ),
        (
            json!({ "event_type": "a", "schema": { "not": { "$ref": "#" } } }),
            "schema",
            "must not refer back to itself",
        ),
        (
            json!({ "event_type": "a", "schema": { "title": "x".repeat(70_000) } }),
            "schema",
            "must be at most 65536 bytes",
        ),
        (
            json!({ "event_type": "a", "schema": {}, "description": "x".repeat(1001) }),
            "description",
            "at most 1000 characters",
        ),
        (json!({ "event_type": "a", "schema": {}, "examples": [] }), "examples", "is not a field of this"),
    ] {
        let answer = api.post("/v1/event-types", &body);
        let sentence = answer.refusal(if says == "is missing" { 400 } else { 422 });
        assert!(sentence.starts_with(&format!("{field} ")) && sentence.contains(says), "{sentence}");
    }
    assert!(!gateway.err().contains("panicked"), "{}", gateway.err());
}
