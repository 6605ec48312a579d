//! Looking at events and deliveries by what they are, and the figures of an account.

use crate::rig::{Api, Reply, Sink, Site, api::text};
use serde_json::{Value, json};

fn ids(page: &Value) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(|item| text(&item["id"])).collect()
}

fn send(api: &Api, event_type: &str, payload: &str, key: &str) -> String {
    let event = json!({ "event_type": event_type, "payload": payload, "external_event_id": key });
    text(&api.post("/v1/outbound-events", &event).data(201)["id"])
}

#[test]
fn events_are_found_by_what_they_are() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    let first = send(&api, "order.created", "needle-1", "a");
    let second = send(&api, "order.paid", "hay", "b");
    let third = send(&api, "user.created", "hay", "c");
    let between = text(&api.event(&second)["event"]["received_at"]);
    let nowhere = "dst_0000000000000";
    for (query, expected) in [
        ("event_type=order.created".to_owned(), vec![&first]),
        ("event_type=order.*".to_owned(), vec![&second, &first]),
        ("external_event_id=c".to_owned(), vec![&third]),
        ("text=needle".to_owned(), vec![&first]),
        ("text=needle-2".to_owned(), vec![]),
        (format!("destination_id={destination}"), vec![&third, &second, &first]),
        (format!("destination_id={nowhere}"), vec![]),
        (format!("since={between}&event_type=order.paid"), vec![&second]),
        ("since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z".to_owned(), vec![]),
    ] {
        let page = api.get(&format!("/v1/events?{query}")).data(200);
        assert_eq!(ids(&page).iter().collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(page["total"], expected.len(), "{query}");
        assert_eq!(page["truncated"], false, "{query}");
        assert!(page["scanned"].is_number(), "{query}");
    }
    assert!(api.get("/v1/events").data(200)["scanned"].is_null(), "nothing was looked through");
    for bad in ["event_type=a..b", "text=", "since=yesterday", "destination_id=x", "until=1"] {
        assert_eq!(api.get(&format!("/v1/events?{bad}")).code(422), "invalid_field", "{bad}");
    }
    let crossed = "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z";
    assert_eq!(api.get(&format!("/v1/events?{crossed}")).json()["field"], "since");
}

#[test]
fn deliveries_are_listed_newest_first_in_pages() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let first = api.destination(&sink.url("/one"), &json!({}));
    let second = api.destination(&sink.url("/two"), &json!({}));
    let events: Vec<String> = (0..5).map(|number| send(&api, "a.b", "x", &number.to_string())).collect();
    events.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    let mut expected = Vec::new();
    for id in events.iter().rev() {
        let deliveries = api.event(id)["event"]["deliveries"].take();
        let mut of_event: Vec<String> =
            deliveries.as_array().unwrap().iter().map(|delivery| text(&delivery["id"])).collect();
        of_event.reverse();
        expected.extend(of_event);
    }
    for limit in [1, 3, 4, 10, 11] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = api.get(&format!("/v1/deliveries?limit={limit}{cursor}")).data(200);
            assert!(page["items"].as_array().unwrap().len() <= limit);
            found.extend(ids(&page));
            match page["next_cursor"].as_str() {
                None => break,
                Some(next) => cursor = format!("&cursor={next}"),
            }
        }
        assert_eq!(found, expected, "{limit}");
    }
    let one = api.get(&format!("/v1/deliveries?destination_id={second}&event_id={}", events[0])).data(200);
    assert_eq!(ids(&one).len(), 1);
    assert_eq!(one["items"][0]["destination_id"], json!(second));
    assert_eq!(ids(&api.get(&format!("/v1/deliveries?destination_id={first}")).data(200)).len(), 5);
    assert_eq!(ids(&api.get("/v1/deliveries?status=delivered").data(200)).len(), 10);
    assert_eq!(ids(&api.get("/v1/deliveries?status=dead_letter").data(200)).len(), 0);
    assert_eq!(ids(&api.get("/v1/deliveries?event_type=c.*").data(200)).len(), 0);
    for bad in
        ["status=gone", "event_id=x", "cursor=x", "text=", "source_id=x", "account_id=x", "direction=inbound"]
    {
        assert_eq!(api.get(&format!("/v1/deliveries?{bad}")).status, 422, "{bad}");
    }
}

#[test]
fn deliveries_are_found_by_what_their_events_are() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let (source, path) = api.source();
    let (other, _) = api.source();
    let event = api.send(&path, &[("x-event-type", "order.paid")], b"a needle in it");
    send(&api, "a.b", "hay", "1");
    let received = text(&api.event_once(&event, "delivered")["event"]["received_at"]);
    let of_event = format!("event_id={event}&");
    // Of one event that is named the filters hold as well.
    for named in ["", of_event.as_str()] {
        for (query, found) in [
            (format!("source_id={source}"), 1),
            (format!("source_id={other}"), 0),
            ("text=needle".to_owned(), 1),
            ("text=needles".to_owned(), 0),
            ("event_type=order.*".to_owned(), 1),
            ("event_type=user.*".to_owned(), 0),
            (format!("since={received}&source_id={source}"), 1),
            (format!("until={received}"), 0),
            ("since=2099-01-01T00:00:00Z".to_owned(), 0),
        ] {
            let page = api.get(&format!("/v1/deliveries?{named}{query}")).data(200);
            assert_eq!(ids(&page).len(), found, "{named}{query}");
            assert!(found == 0 || page["items"][0]["event_id"] == json!(event), "{named}{query}");
        }
    }
}

#[test]
fn an_operator_names_the_account_whose_lists_it_wants() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let (account, theirs) = (text(&made["account"]["id"]), api.with_key(&text(&made["api_key"]["key"])));
    theirs.destination(&sink.url("/in"), &json!({}));
    let event = send(&theirs, "a.b", "x", "1");
    theirs.event_once(&event, "delivered");
    let own = text(&api.get("/v1/accounts").data(200)[0]["id"]);
    for list in ["events", "outbound-events", "deliveries"] {
        let ask = |api: &Api, account: &str| api.get(&format!("/v1/{list}?account_id={account}"));
        assert_eq!(ids(&ask(&api, &account).data(200)).len(), 1, "{list}");
        assert_eq!(ids(&ask(&theirs, &account).data(200)).len(), 1, "{list}");
        assert_eq!(ids(&api.get(&format!("/v1/{list}")).data(200)).len(), 0, "{list}");
        assert_eq!(ask(&theirs, &own).status, 404, "{list} of somebody else");
        assert_eq!(ask(&api, "acc_0000000000000").status, 404, "{list} of nobody");
        assert_eq!(ask(&api, "x").status, 422, "{list}");
    }
}

#[test]
fn every_status_of_the_wire_can_be_asked_for() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({}));
    let events: Vec<String> = (0..4).map(|number| send(&api, "a.b", "x", &number.to_string())).collect();
    let again = |id: &String| {
        let answer = api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
        text(&answer["replay_event_id"])
    };
    let replays: Vec<String> = events[..3].iter().map(again).collect();
    events.iter().chain(&replays).for_each(|id| drop(api.event_once(id, "delivered")));
    let find = |query: &str| api.get(&format!("/v1/events?status={query}")).data(200);
    for (status, count) in [
        ("received", 0),
        ("accepted", 0),
        ("queued", 0),
        ("delivering", 0),
        ("delivered", 7),
        ("retry_scheduled", 0),
        ("dead_letter", 0),
        ("replayed", 3),
    ] {
        let page = find(status);
        assert_eq!((ids(&page).len(), &page["total"]), (count, &json!(count)), "{status}");
        assert_eq!(page["truncated"], false, "{status}");
    }
    let newest_first: Vec<String> = replays.iter().rev().cloned().collect();
    assert_eq!(ids(&find("replayed")), newest_first);
    assert_eq!(ids(&find("replayed&offset=1&limit=1")), newest_first[1..2]);
    let first = find("replayed&limit=2");
    assert_eq!((ids(&first), &first["total"]), (newest_first[..2].to_vec(), &json!(3)));
    let rest = find(&format!("replayed&limit=2&cursor={}", text(&first["next_cursor"])));
    assert_eq!((ids(&rest), rest.get("next_cursor")), (newest_first[2..].to_vec(), None));
    assert_eq!(ids(&find("replayed&event_type=c.*")).len(), 0, "with the other filters");
    assert_eq!(api.get("/v1/events?status=gone").code(422), "invalid_field");
}

#[test]
fn a_delivery_is_found_by_its_id_alone_with_all_its_attempts() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.next("/in", [Reply::status(500)]);
    let gateway = site.start();
    let api = gateway.api();
    let policy = json!({ "retry_policy": { "delays_seconds": [0.05], "jitter": "none" } });
    let destination = api.destination(&sink.url("/in"), &policy);
    send(&api, "a.b", "before", "0");
    let id = send(&api, "a.b", "x", "1");
    send(&api, "a.b", "behind", "2");
    let event = api.event_once(&id, "delivered");
    let delivery = text(&event["event"]["deliveries"][0]["id"]);
    let shown = api.get(&format!("/v1/deliveries/{delivery}")).data(200);
    assert_eq!(shown["delivery"]["event_id"], json!(id));
    assert_eq!(shown["delivery"]["destination_id"], json!(destination));
    assert_eq!(shown["attempts"], event["attempts"]);
    for attempt in shown["attempts"].as_array().unwrap() {
        assert!(attempt["request_headers"].is_object() && attempt["timing"].is_object());
        assert!(attempt["response_status"].is_number() && attempt["response_headers"].is_object());
    }
    for unknown in ["dlv_0000000000000", "dlv_7zzzzzzzzzzzz", &id, "x"] {
        assert_eq!(api.get(&format!("/v1/deliveries/{unknown}")).status, 404, "{unknown}");
    }
    let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let theirs = api.with_key(&text(&other["api_key"]["key"]));
    assert_eq!(theirs.get(&format!("/v1/deliveries/{delivery}")).status, 404);
    assert_eq!(ids(&theirs.get("/v1/deliveries").data(200)).len(), 0);
}

fn by_status(stats: &Value, status: &str) -> i64 {
    let counts = stats["by_status"].as_array().unwrap();
    counts.iter().find(|count| count["status"] == status).unwrap()["count"].as_i64().unwrap()
}

#[test]
fn figures_tell_what_happened_and_where_things_stand() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/gone", Reply::status(404));
    let gateway = site.start();
    let api = gateway.api();
    let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let theirs = api.with_key(&text(&other["api_key"]["key"]));
    let (_, path) = api.source();
    let unrouted = api.send(&path, &[], b"nobody wants it");
    assert_eq!(api.event(&unrouted)["event"]["status"], "accepted");
    api.destination(&sink.url("/in"), &json!({}));
    let inbound = api.send(&path, &[], b"in");
    let outbound = send(&api, "a.b", "out", "1");
    api.event_once(&inbound, "delivered");
    api.event_once(&outbound, "delivered");
    let policy = json!({ "retry_policy": { "delays_seconds": [1], "final_statuses": ["4xx"] } });
    let gone = api.destination(&sink.url("/gone"), &policy);
    let dead = send(&api, "a.b", "dies", "2");
    api.event_once(&dead, "dead_letter");
    let check = |api: &Api| {
        let stats = api.get("/v1/stats").data(200);
        let standing = ["accepted", "queued", "delivering", "retry_scheduled", "delivered", "dead_letter"];
        assert_eq!(standing.map(|status| by_status(&stats, status)), [1, 0, 0, 0, 3, 1]);
        let days = stats["daily"].as_array().unwrap();
        assert_eq!(days.len(), 30);
        let sum = |field: &str| days.iter().map(|day| day[field].as_i64().unwrap()).sum::<i64>();
        assert_eq!(["inbound", "outbound", "delivered", "failed"].map(sum), [2, 2, 3, 1]);
        let all = api.get("/v1/platform-stats").data(200);
        let expected = json!({
            "events_processed": 4, "events_delivered": 3, "delivery_attempts": 4, "success_rate_pct": 75.0,
        });
        assert_eq!(all, expected);
    };
    check(&api);
    assert_eq!(theirs.get("/v1/platform-stats").data(200)["events_processed"], 0, "of its own alone");
    let acting = text(&other["account"]["id"]);
    let acting = api.call("GET", "/v1/platform-stats", &[("postrider-account", &acting)], b"").data(200);
    assert_eq!(acting["events_processed"], 0, "of the one account that the operator acts for");
    assert_eq!(by_status(&theirs.get("/v1/stats").data(200), "delivered"), 0);
    gateway.kill();
    let gateway = site.start();
    let api = gateway.api();
    check(&api);
    let letters = api.get(&format!("/v1/dead-letters?destination_id={gone}")).data(200);
    let letter = text(&letters["items"][0]["delivery_id"]);
    sink.always("/gone", Reply::status(200));
    api.post(&format!("/v1/dead-letters/{letter}/replay"), &json!({})).data(202);
    api.event_once(&dead, "delivered");
    let stats = api.get("/v1/stats").data(200);
    assert_eq!(["delivered", "dead_letter"].map(|status| by_status(&stats, status)), [4, 0]);
}
