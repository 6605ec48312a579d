//! Every page with the longest lists and texts that there can be: it stays below 100 kB.

use super::browser::Browser;
use super::guard::PAGES;
use super::portal::Guest;
use crate::rig::{Answer, Api, Reply, Sink, Site, wait_until};
use serde_json::json;

const PAGE_BYTES_MAX: usize = 100_000;

/// Objects of each kind: more than a page of any list has.
const MANY: usize = 105;
/// Destinations that an event goes to, and how often it is tried there.
const RECEIVERS: usize = 20;
const ATTEMPTS: u32 = 10;

/// As long as a name can be, of what costs most on a page.
fn name() -> String {
    "<".repeat(200)
}

fn check(page: &str, answer: &Answer) {
    assert_eq!(answer.status, 200, "{page}: {answer}");
    assert!(answer.body.len() < PAGE_BYTES_MAX, "{page} has {} bytes", answer.body.len());
}

#[test]
fn no_page_is_large_however_much_there_is() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let destination = fill(&api, &sink);
    let (_, path) = api.source();
    let body = json!({ "text": "<".repeat(300_000), "list": vec!["'"; 20_000] }).to_string();
    let event_type = format!("a.{}", "b".repeat(250));
    let headers = [("x-event-type", event_type.as_str()), ("x-long", &"&".repeat(8000))];
    let event = api.send(&path, &headers, body.as_bytes());
    api.send(&path, &headers, b"{}");
    let died = || api.get("/v1/dead-letters?limit=200").data(200)["items"].as_array().unwrap().len();
    wait_until("all were given up on", || (died() == 2 * RECEIVERS).then_some(()));

    let browser = Browser::signed_in(&api);
    let own = [format!("/events/{event}"), format!("/destinations/{destination}")];
    for page in PAGES.into_iter().chain(own.iter().map(String::as_str)) {
        check(page, &browser.send("GET", page, &[], ""));
    }
    check("/routes/test", &browser.change("/routes/test", &[("payload", &"<".repeat(3000))]));
    let shown = browser.page(&own[0]);
    for left_out in ["9 earlier:", "5 more deliveries"] {
        assert!(shown.contains(left_out), "{left_out} is not in {shown}");
    }

    let guest = Guest::by_link(&api, &json!({}));
    let lists = ["destinations", "events", "dead-letters"].map(|list| format!("/portal/{list}"));
    let own = [format!("/portal/events/{event}"), format!("/portal/destinations/{destination}")];
    for page in lists.iter().chain(&own) {
        check(page, &guest.0.send("GET", page, &[], ""));
    }
    let shown = guest.page(&own[0]);
    for left_out in ["9 earlier attempts", "5 more deliveries"] {
        assert!(shown.contains(left_out), "{left_out} is not in {shown}");
    }
}

/// Some of everything, as long as it can be; gives a destination.
fn fill(api: &Api, sink: &Sink) -> String {
    let path = format!("/in?{}", "&".repeat(1900));
    sink.always(
        &path,
        Reply::status(500).header("x-answer", &"<".repeat(4000)).body("<&>".repeat(4000).as_bytes()),
    );
    let settings = json!({
        "name": name(), "circuit": { "threshold": 10_000 }, "custom_headers": { "x-own": "&".repeat(4000) },
        "retry_policy": { "delays_seconds": [0.01], "max_attempts": ATTEMPTS, "jitter": "none" },
    });
    let mut destination = String::new();
    for _ in 0..RECEIVERS {
        destination = api.destination(&sink.url(&path), &settings);
    }
    let idle = json!({ "name": name(), "url": sink.url(&path) });
    let filter = format!("payload.text == '{}'", "<".repeat(4000));
    let types = |n: usize| format!("t{n}.{}", "a".repeat(240));
    for n in 0..MANY {
        api.make("/v1/sources", &json!({ "name": name() }));
        api.make("/v1/api-keys", &json!({ "name": name(), "scope": "read" }));
        api.make("/v1/event-types", &json!({ "event_type": types(n), "schema": {} }));
        api.post("/v1/accounts", &json!({ "name": name() })).data(201);
        let to = api.make("/v1/destinations", &idle);
        let route = json!({ "destination_id": to, "filter": filter, "event_type_pattern": types(n) });
        api.make("/v1/routes", &route);
        let pattern = format!("{}.**", types(n));
        api.make("/v1/routes", &json!({ "destination_id": destination, "event_type_pattern": pattern }));
    }
    destination
}
