//! Pages by cursor: every list in full, each item once, whatever is made meanwhile.

use crate::rig::{Api, Site, api::text};
use serde_json::{Value, json};

/// All items of a list in pages of two, and how many pages there were. `meanwhile` happens after each page.
fn walk(api: &Api, path: &str, meanwhile: impl Fn()) -> (Vec<String>, usize) {
    let (mut ids, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let answer = api.get(&format!("{path}?limit=2{cursor}"));
        assert_eq!(answer.status, 200, "{answer}");
        let body = answer.json();
        // Long lists have their page in the envelope; lists of configuration are the data themselves.
        let page = if body["data"].is_array() { &body } else { &body["data"] };
        let items = if body["data"].is_array() { &body["data"] } else { &body["data"]["items"] };
        let items = items.as_array().unwrap();
        ids.extend(items.iter().map(|item| text(&item["id"])));
        pages += 1;
        let next = &page["next_cursor"];
        assert!(items.len() == 2 || next.is_null(), "{body}");
        match next {
            Value::Null => return (ids, pages),
            next => cursor = format!("&cursor={}", text(next)),
        }
        meanwhile();
    }
}

#[test]
fn lists_of_configuration_are_in_full_or_in_pages() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    for (path, body) in [
        ("/v1/api-keys", json!({ "name": "a" })),
        ("/v1/sources", json!({ "name": "a" })),
        ("/v1/destinations", json!({ "name": "a", "url": "http://127.0.0.1:9/" })),
        ("/v1/routes", json!({ "destination_id": id })),
    ] {
        let before = api.get(path).data(200).as_array().unwrap().len();
        (before..5).for_each(|_| drop(api.make(path, &body)));
        let all: Vec<String> =
            api.get(path).data(200).as_array().unwrap().iter().map(|item| text(&item["id"])).collect();
        assert_eq!(walk(&api, path, || {}), (all, 3), "{path}");
    }
    let described: Vec<String> = (0..5)
        .map(|n| api.make("/v1/event-types", &json!({ "event_type": format!("a.t{n}"), "schema": {} })))
        .collect();
    assert_eq!(walk(&api, "/v1/event-types", || {}), (described, 3));
    (0..3).for_each(|_| drop(api.post("/v1/replays", &json!({})).data(202)));
    let all: Vec<String> =
        api.get("/v1/replays").data(200).as_array().unwrap().iter().map(|item| text(&item["id"])).collect();
    assert_eq!(walk(&api, "/v1/replays", || {}), (all, 2));
    assert_eq!(walk(&api, "/v1/accounts", || {}).1, 1);
}

#[test]
fn a_walk_over_events_is_not_moved_by_those_that_come_in() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let mut ids: Vec<String> = (0..6).map(|_| api.send(&path, &[], b"{}")).collect();
    ids.reverse();
    let newer = || drop(api.send(&path, &[], b"{}"));
    assert_eq!(walk(&api, "/v1/events", newer), (ids.clone(), 3));
    let first = api.get("/v1/events?limit=1").data(200);
    assert_eq!(first["total"], 8);
    let cursor = text(&first["next_cursor"]);
    let second = api.get(&format!("/v1/events?limit=200&status=accepted&cursor={cursor}")).data(200);
    assert_eq!(second["items"].as_array().unwrap().len(), 7);
    assert!(second["total"].is_null() && second["next_cursor"].is_null(), "{second}");
}

#[test]
fn what_is_no_cursor_of_a_list_is_refused() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    (0..2).for_each(|_| drop(api.source()));
    let page = api.get("/v1/sources?limit=1").json();
    let of_sources = text(&page["next_cursor"]);
    let endless = "A".repeat(3000);
    // The last is what a place beyond all ids looks like.
    for bad in ["", "x", "%00", "src_0000000000000", &of_sources[1..], &endless, "Bv__________"] {
        for path in
            ["accounts", "api-keys", "sources", "destinations", "routes", "events", "dead-letters", "replays"]
        {
            let answer = api.get(&format!("/v1/{path}?cursor={bad}"));
            assert!(answer.refusal(422).contains("cursor"), "{path}: {answer}");
        }
    }
    api.get(&format!("/v1/routes?cursor={of_sources}")).refusal(422);
    api.get(&format!("/v1/events?cursor={of_sources}&offset=1")).refusal(422);
    assert!(api.get("/v1/sources?limits=1").refusal(422).contains("limits"));
    assert!(api.get("/v1/sources?limit=0").refusal(422).contains("limit"));
}
