//! Every page with the longest lists and texts that there can be: it stays below 100 kB.

use super::browser::Browser;
use super::guard::PAGES;
use super::portal::Guest;
use crate::rig::api::text;
use crate::rig::{Answer, Api, Reply, Sink, Site, wait_until};
use serde_json::json;

const PAGE_BYTES_MAX: usize = 100_000;

/// Objects of each kind: more than a page of any list has.
const MANY: usize = 105;
/// Destinations that an event goes to, and how often it is tried there.
const RECEIVERS: usize = 20;
const ATTEMPTS: u32 = 10;
/// Open circuits: as many as the overview asks for.
const CIRCUITS: usize = 200;

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
    let details = details(&api, &destination);
    for page in PAGES.into_iter().chain(own.iter().chain(&details).map(String::as_str)) {
        check(page, &browser.send("GET", page, &[], ""));
    }
    check("/routes/test", &browser.change("/routes/test", &[("payload", &"<".repeat(3000))]));
    let shown = browser.page(&own[0]);
    for left_out in ["9 earlier attempts:", "5 more deliveries"] {
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

#[test]
fn the_overview_tells_the_worst_and_how_many_more_there_are() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    for n in 0..CIRCUITS {
        let name = format!("{n:03}{}", "<".repeat(197));
        let id = api.make("/v1/destinations", &json!({ "name": name, "url": "http://127.0.0.1:9/" }));
        api.post(&format!("/v1/destinations/{id}/circuit"), &json!({ "state": "open" })).data(200);
    }
    let answer = Browser::signed_in(&api).send("GET", "/", &[], "");
    check("/", &answer);
    let shown = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(shown.matches("The circuit of ").count(), 20, "{shown}");
    assert!(shown.contains("180 more findings"), "{shown}");
    assert!(shown.contains("<code>postrider doctor</code> shows all of them"), "{shown}");
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

/// One of each of the other nouns, with as much on its page as there can be; gives the pages.
fn details(api: &Api, destination: &str) -> [String; 5] {
    let made = api.post("/v1/sources", &json!({ "name": name() })).data(201);
    let source = text(&made["id"]);
    let url = text(&made["ingest_url"]);
    refuse(api, &url[url.find("/ingest/").expect("a URL to post to")..]);
    let long = format!("'{}'", "<".repeat(4080));
    let route = json!({
        "source_id": source, "destination_id": destination, "event_type_pattern": format!("a.{}", "b".repeat(254)),
        "filter": format!("{long} != ''"), "transform": long,
    });
    let route = api.make("/v1/routes", &route);
    let key = json!({ "name": name(), "scope": "read", "expires_at": "2099-01-01T00:00:00Z" });
    let key = api.make("/v1/api-keys", &key);
    let account = text(&api.get("/v1/accounts").data(200)[0]["id"]);
    let change = json!({ "name": name(), "email": format!("{}@b.c", "&".repeat(60)), "plan": name() });
    api.patch(&format!("/v1/accounts/{account}"), &change).data(200);
    let logo = format!("data:image/png;base64,{}", "A".repeat(16_360));
    let brand = json!({ "company_name": name(), "docs_title": name(), "logo_url": logo });
    api.post("/v1/brand-settings", &brand).data(200);
    let replay = text(&api.post("/v1/replays", &json!({ "rate_per_second": 0.001 })).data(202)["id"]);
    [
        format!("/sources/{source}"),
        format!("/routes/{route}"),
        format!("/keys/{key}"),
        format!("/accounts/{account}"),
        format!("/replays/{replay}"),
    ]
}

/// Refusals, more than are remembered, none like the one before, each with as much to say as there can be.
fn refuse(api: &Api, path: &str) {
    let strict = json!({ "additionalProperties": { "const": "<".repeat(10_000) } });
    api.make("/v1/event-types", &json!({ "event_type": "strict", "schema": strict }));
    for n in 0..60 {
        let body = json!({ format!("{n}{}", "<".repeat(100_000)): 1 }).to_string();
        let answer = api.call("POST", path, &[("x-event-type", "strict")], body.as_bytes());
        assert_eq!(answer.status, 422, "{answer}");
    }
}
