//! Pages for a key that may look and change nothing.

use super::browser::Browser;
use super::guard::PAGES;
use crate::rig::api::text;
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::json;

/// The forms of a page that are sent as a change, by where they go.
fn changes(page: &str) -> Vec<String> {
    let forms = page.split("<form").skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    let changes = forms.filter(|tag| tag.contains("method=\"post\""));
    changes.map(|tag| tag.split("action=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
}

/// Every page of the dashboard that an account has, with one of each noun.
fn pages(api: &Api, sink: &Sink) -> Vec<String> {
    sink.always("/in", Reply::status(500));
    let policy = json!({ "name": "ledger", "retry_policy": { "max_attempts": 1 } });
    let destination = api.destination(&sink.url("/in"), &policy);
    let (source, path) = api.source();
    let [event, other] = [(); 2].map(|()| api.send(&path, &[], b"{}"));
    for event in [&event, &other] {
        api.event_once(event, "dead_letter");
    }
    // One is sent at once, and the other later than this test ends.
    let replay = text(&api.post("/v1/replays", &json!({ "rate_per_second": 0.001 })).data(202)["id"]);
    wait_until("it has failed again", || {
        let left = api.get("/v1/dead-letters").data(200)["items"].as_array().map(Vec::len);
        (left == Some(2)).then_some(())
    });
    let route = api.make("/v1/routes", &json!({ "destination_id": destination, "source_id": source }));
    let key = api.make("/v1/api-keys", &json!({ "name": "another", "scope": "read" }));
    let account = text(&api.get("/v1/accounts").data(200)[0]["id"]);
    let own = [
        format!("/events/{event}"),
        format!("/destinations/{destination}"),
        format!("/dead-letters?destination_id={destination}"),
        format!("/replays/{replay}"),
        format!("/sources/{source}"),
        format!("/routes/{route}"),
        format!("/keys/{key}"),
        format!("/accounts/{account}"),
    ];
    let of_operator = ["/cluster", "/settings"];
    let lists = PAGES.into_iter().filter(|page| !of_operator.contains(page)).map(str::to_owned);
    lists.chain(own).collect()
}

#[test]
fn who_may_only_look_is_offered_no_change() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let pages = pages(&api, &sink);
    let key = api.post("/v1/api-keys", &json!({ "name": "eyes", "scope": "read" })).data(201);
    let reader = Browser::signed_in(&api.with_key(&text(&key["key"])));
    let operator = Browser::signed_in(&api);
    for page in &pages {
        let seen = changes(&reader.page(page));
        // What a route would do is told to whoever may look.
        let expected: &[&str] =
            if page == "/routes/test" { &["/sign-out", "/routes/test"] } else { &["/sign-out"] };
        assert_eq!(seen, expected, "{page}");
    }
    let without = ["/", "/events", "/tail", "/deliveries", "/replays", "/audit"];
    for page in pages.iter().filter(|page| !without.contains(&page.as_str())) {
        assert!(changes(&operator.page(page)).len() > 1, "{page} offers the operator nothing");
    }
    let destination = pages.iter().find(|page| page.starts_with("/destinations/")).expect("one");
    let shown = reader.page(destination);
    assert!(shown.contains("concurrent attempts"), "the settings in sentences: {shown}");
    let lists = ["/destinations", "/sources", "/routes", "/keys"];
    for page in lists {
        assert!(!reader.page(page).contains("<h2>Create a"), "{page}");
        assert!(operator.page(page).contains("<h2>Create a"), "{page}");
    }
}

#[test]
fn what_changes_on_a_page_brings_no_change_to_who_may_only_look() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.destination(&sink.url("/in"), &json!({ "name": "ledger" }));
    let key = api.post("/v1/api-keys", &json!({ "name": "eyes", "scope": "read" })).data(201);
    let reader = Browser::signed_in(&api.with_key(&text(&key["key"])));
    let page = format!("/destinations/{destination}");
    let followed = |browser: &Browser| text(&browser.follow(&page).next().data["live-destination"]);
    assert_eq!(changes(&followed(&reader)), Vec::<String>::new());
    assert!(changes(&followed(&Browser::signed_in(&api))).len() > 1);
}
