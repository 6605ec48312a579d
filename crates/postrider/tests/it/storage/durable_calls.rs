//! Every kind of call after whose answer something must be safe.

use crate::rig::api::text;
use crate::rig::client::request;
use crate::rig::{Api, Reply, Sink, Site};
use ring::hmac::{self, HMAC_SHA256};
use serde_json::json;

const SECRET: &str = "a-secret-of-webhooks";

pub(super) struct DurableCall {
    /// Its method and path.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// A site at which all doors for events are open. To `/ingress` goes what the file says.
pub(super) fn all_doors(site: Site, sink: &Sink) -> Site {
    let file = format!("[[destinations]]\nname = \"listed\"\nurl = {:?}\n", sink.url("/listed"));
    site.config(&file).variable("POSTRIDER_WEBHOOKS_SECRET", SECRET)
}

/// Each of them once, in order: some need what an earlier one has made.
pub(super) fn durable_calls(api: &Api, sink: &Sink, path: &str) -> Vec<DurableCall> {
    let letters = [dead_letter(api, sink), dead_letter(api, sink), dead_letter(api, sink)];
    let of_letter = |number: usize, part: &str| text(&letters[number][part]);
    let destination = of_letter(0, "destination_id");
    let event = json!({ "event_type": "a.b", "payload": "waits" }).to_string();
    let job = json!({ "payload": "waits", "client_url": sink.url("/job") }).to_string();
    let call = |method: &str, path: &str, body: &str| {
        let bearer = format!("Bearer {}", api.key);
        let headers = [("authorization", bearer.as_str()), ("x-signature", &signature(&job))];
        let bytes = request(method, path, &headers, body.as_bytes());
        DurableCall { name: format!("{method} {path}"), bytes }
    };
    vec![
        call("POST", path, "waits"),
        call("POST", "/ingress", "waits"),
        call("POST", "/webhooks", &job),
        call("POST", "/v1/outbound-events", &event),
        call("POST", "/v1/events/batch", &event),
        call("POST", &format!("/v1/events/{}/replay", of_letter(0, "event_id")), "{}"),
        call("POST", &format!("/v1/dead-letters/{}/replay", of_letter(1, "delivery_id")), "{}"),
        call("DELETE", &format!("/v1/dead-letters/{}", of_letter(2, "delivery_id")), ""),
        call("POST", "/v1/replays", "{}"),
        call("POST", "/v1/sources", r#"{"name":"another"}"#),
        call("PATCH", &format!("/v1/destinations/{destination}"), r#"{"name":"changed"}"#),
        call("POST", &format!("/v1/destinations/{destination}/pause"), "{}"),
        call("POST", &format!("/v1/destinations/{destination}/circuit"), r#"{"state":"open"}"#),
        call("DELETE", &format!("/v1/destinations/{destination}"), ""),
    ]
}

/// A dead letter of a destination of its own.
fn dead_letter(api: &Api, sink: &Sink) -> serde_json::Value {
    sink.always("/dead", Reply::status(500));
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 1 });
    let settings = json!({ "name": "dead", "url": sink.url("/dead"), "retry_policy": policy, "circuit": { "threshold": 10_000 } });
    let destination = api.make("/v1/destinations", &settings);
    let source = api.post("/v1/sources", &json!({ "name": "of the dead" })).data(201);
    let route = json!({ "destination_id": destination, "source_id": source["id"] });
    api.make("/v1/routes", &route);
    let event = api.send(&format!("/ingest/{}", text(&source["path_token"])), &[], b"{}");
    api.event_once(&event, "dead_letter");
    let found = api.get("/v1/dead-letters").data(200);
    let is_of = |letter: &&serde_json::Value| letter["event_id"] == *event;
    found["items"].as_array().unwrap().iter().find(is_of).unwrap().clone()
}

fn signature(body: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, SECRET.as_bytes()), body.as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}
