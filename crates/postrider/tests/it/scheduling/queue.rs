//! What `/v1/queue` shows of real trouble: hanging and failing receivers, a flood, and only what is the caller's.

use super::Stage;
use super::stage::patient;
use crate::rig::api::text;
use crate::rig::{Api, Reply, wait_until};
use postrider_core::time::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn queue(api: &Api, query: &str) -> Value {
    api.get(&format!("/v1/queue{query}")).data(200)
}

/// Waits until the queue shows this, and gives it.
fn queue_once(api: &Api, what: &str, shows: impl Fn(&Value) -> bool) -> Value {
    wait_until(what, || Some(queue(api, "")).filter(|found| shows(found)))
}

fn of_destination<'a>(queue: &'a Value, id: &str) -> &'a Value {
    let items = queue["items"].as_array().unwrap();
    items.iter().find(|item| item["destination_id"] == id).unwrap_or(&Value::Null)
}

#[test]
fn a_receiver_that_hangs_shows_what_waits_behind_it() {
    let stage = Stage::new(&[]);
    stage.sink.always("/slow", Reply::held());
    let slow = stage.destination("slow", 1, &json!({ "max_concurrency": 2, "adaptive": false }));
    stage.destination("quick", 3, &json!({}));
    stage.send_many("slow", 5);
    let quick = stage.send_many("quick", 1);
    stage.all_delivered(&quick);
    let found = queue_once(&stage.api, "two of five are in flight", |found| {
        let item = of_destination(found, &slow);
        item["pending"] == 5 && item["in_flight"] == 2 && found["slots"]["used"] == 2
    });
    let item = of_destination(&found, &slow);
    assert_eq!(item["name"], "slow");
    assert_eq!((&item["max_concurrency"], &item["concurrency"]["limit"]), (&json!(2), &json!(2)));
    assert_eq!((&item["waiting_for"], &item["circuit_state"]), (&json!("concurrency"), &json!("closed")));
    assert!(item["concurrency_slot_denied"].as_u64().unwrap() > 0, "{item}");
    assert_eq!(item["oldest"]["attempts"], 0);
    assert!(text(&item["oldest"]["delivery_id"]).starts_with("dlv_"));
    assert_eq!(found["total"]["oldest_at"], item["oldest"]["accepted_at"]);
    assert_eq!(found["total"]["pending"], 5, "the quick one has nothing waiting");
    let slots = json!({ "used": 2, "total": 512, "nodes": 1, "busiest": { "used": 2, "total": 512 } });
    assert_eq!(found["slots"], slots);
    let by = |list: &str, place: usize| found[list][place]["pending"].as_u64().unwrap();
    assert_eq!(
        [by("by_priority", 0), by("by_priority", 2), by("by_lane", 0), by("by_lane", 1)],
        [5, 0, 5, 0]
    );
    assert_eq!(found["by_account"][0]["pending"], 5);
    let waited = found["by_priority"][0]["overdue_seconds"].as_f64().unwrap();
    assert!(waited > 0.0 && waited <= found["total"]["oldest_seconds"].as_f64().unwrap(), "{found}");
    stage.sink.release();
    queue_once(&stage.api, "nothing waits", |found| found["total"]["pending"] == 0);
}

#[test]
fn a_receiver_that_fails_shows_its_retries_and_its_open_circuit() {
    let stage = Stage::new(&[]);
    stage.sink.always("/down", Reply::status(500));
    let settings = json!({ "retry_policy": { "delays_seconds": [3600], "max_attempts": 5, "jitter": "none" },
        "circuit": { "threshold": 2 }, "max_concurrency": 1 });
    let down = stage.destination("down", 4, &settings);
    stage.send_many("down", 4);
    let found = queue_once(&stage.api, "the circuit is open", |found| {
        of_destination(found, &down)["circuit_state"] == "open"
    });
    let item = of_destination(&found, &down);
    assert_eq!((&item["pending"], &item["in_flight"]), (&json!(4), &json!(0)));
    assert_eq!((&item["waiting_for"], &item["oldest"]["attempts"]), (&json!("circuit"), &json!(1)));
    assert_eq!(found["by_priority"][3]["pending"], 4);
    assert_eq!((&found["by_lane"][0]["pending"], &found["by_lane"][1]["pending"]), (&json!(2), &json!(2)));
    assert_eq!(found["by_lane"][1]["overdue_seconds"], 0.0, "retries are due in an hour");
    assert!(found["by_lane"][1]["oldest_seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_worst_come_first_page_by_page_and_everyone_sees_their_own() {
    let stage = Stage::new(&[]);
    let theirs = stage.api.with_key("").post("/v1/accounts", &json!({ "name": "theirs" })).data(201);
    let theirs_api = stage.api.with_key(&text(&theirs["api_key"]["key"]));
    let mut ids = Vec::new();
    for (name, count) in [("one", 1), ("three", 3), ("two", 2)] {
        let id = stage.destination(name, 3, &json!({ "retry_policy": patient() }));
        stage.pause(&id);
        stage.send_many(name, count);
        ids.push(id);
    }
    let other = stage.destination_of(&theirs_api, "other", 3, &json!({}));
    theirs_api.post(&format!("/v1/destinations/{other}/pause"), &json!({})).data(200);
    let event = json!({ "event_type": "other", "payload": {} });
    theirs_api.post("/v1/outbound-events", &event).data(201);
    queue_once(&stage.api, "all seven wait", |found| found["total"]["pending"] == 7);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = queue(&stage.api, &format!("?limit=1{cursor}"));
        assert_eq!(page["total"]["pending"], 7, "sums are of all pages");
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| text(&item["destination_id"])));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, [ids[1].clone(), ids[2].clone(), ids[0].clone(), other.clone()]);
    let own = queue(&theirs_api, "");
    assert_eq!((&own["total"]["pending"], own["items"].as_array().unwrap().len()), (&json!(1), 1));
    assert_eq!(own["by_account"].as_array().unwrap().len(), 1);
    assert_eq!(own.get("slots"), None, "how busy the gateway is with others is not theirs to know");
    let theirs_id = text(&theirs["account"]["id"]);
    let asked_for = queue(&stage.api, &format!("?account_id={theirs_id}"));
    let ids = |found: &Value| -> Vec<String> {
        found["items"].as_array().unwrap().iter().map(|item| text(&item["destination_id"])).collect()
    };
    assert_eq!((ids(&asked_for), ids(&own)), (vec![other.clone()], vec![other]));
    let ours_id = text(&stage.api.get("/v1/accounts").data(200)[0]["id"]);
    assert_eq!(theirs_api.get(&format!("/v1/queue?account_id={ours_id}")).code(404), "not_found");
    for (query, field) in
        [("?limit=0", "limit"), ("?cursor=x", "cursor"), ("?limit=201", "limit"), ("?x=1", "x")]
    {
        assert!(stage.api.get(&format!("/v1/queue{query}")).refusal(422).contains(field), "{query}");
    }
}

#[test]
fn only_what_is_due_soon_is_shown_when_it_is_asked_for() {
    let stage = Stage::new(&[]);
    let [now, later] = ["now", "later"].map(|name| stage.destination(name, 3, &json!({})));
    [&now, &later].into_iter().for_each(|id| drop(stage.pause(id)));
    stage.send("now", &json!({}));
    let in_an_hour = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(3600);
    let in_an_hour = Timestamp::from_unix_ms(u64::try_from(in_an_hour.as_millis()).unwrap());
    let delayed = json!({ "event_type": "later", "payload": 1, "deliver_at": in_an_hour.to_string() });
    stage.api.post("/v1/outbound-events", &delayed).data(201);
    let shown = |query: &str| {
        let found = queue(&stage.api, query);
        let ids = found["items"].as_array().unwrap().iter().map(|item| text(&item["destination_id"]));
        (ids.collect::<BTreeSet<_>>(), found["total"]["pending"].as_u64().unwrap())
    };
    let (both, one) = (BTreeSet::from([now.clone(), later]), BTreeSet::from([now]));
    wait_until("both are owed something", || (shown("") == (both.clone(), 2)).then_some(()));
    assert_eq!(shown("?due_within_seconds=0"), (one.clone(), 1));
    assert_eq!(shown("?due_within_seconds=3000"), (one, 1));
    assert_eq!(shown("?due_within_seconds=4000"), (both, 2));
    for bad in ["-1", "soon", "2592001", ""] {
        stage.api.get(&format!("/v1/queue?due_within_seconds={bad}")).refusal(422);
    }
}
