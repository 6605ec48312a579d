//! `migrate-store`: everything arrives as it was, a move that was cut off goes on, and what would lose something is
//! refused.

mod command;

use self::command::{migrate, migrate_until, sqlite};
use crate::rig::api::text;
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use postrider_postgres::testing::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Its admin key is that of the directory which was moved there.
fn on(database: &str) -> Site {
    Site::new().with(&["--database-url", database, "--lease-seconds", "2"])
}

/// All that can be seen by the API and must not change on the way.
fn everything(api: &Api) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for path in ["accounts", "api-keys", "sources", "destinations", "routes", "event-types", "replays"] {
        all.insert(path.to_owned(), stable(api.get(&format!("/v1/{path}")).data(200)));
    }
    for path in ["dead-letters?limit=100", "platform-stats", "stats", "events?limit=100"] {
        all.insert(path.to_owned(), api.get(&format!("/v1/{path}")).data(200));
    }
    // Latencies are those of a run, and no history.
    drop(all.get_mut("stats").and_then(Value::as_object_mut).and_then(|stats| stats.remove("latency")));
    let events = all["events?limit=100"]["items"].as_array().cloned().unwrap_or_default();
    assert!(!events.is_empty());
    for event in events {
        let id = text(&event["id"]);
        let shown = api.event(&id);
        all.insert(id, shown);
    }
    all
}

/// Without what changes by itself while one looks, and with the address of the gateway.
fn stable(mut listed: Value) -> Value {
    const FLEETING: [&str; 12] = [
        "waiting_until",
        "waiting_for",
        "last_used_at",
        "activity_age_ms",
        "in_flight",
        "circuit_state",
        "circuit_opened_at",
        "circuit_reason",
        "next_probe_at",
        "consecutive_failures",
        "concurrency",
        "ingest_url",
    ];
    for one in listed.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        FLEETING.iter().for_each(|field| drop(one.remove(*field)));
    }
    listed
}

fn assert_same(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) {
    for (what, value) in before {
        assert_eq!(Some(value), after.get(what), "{what}");
    }
    assert_eq!(before.len(), after.len());
}

/// Something of everything: delivered, dead, owed, keyed, replayed, with secrets. Gives the path of the source.
fn fill(api: &Api, sink: &Sink) -> String {
    let (_, path) = api.source();
    sink.always("/bad", Reply::status(500));
    // All six are to fail now: a circuit that opened after five would keep the last waiting.
    let once = json!({
        "retry_policy": { "delays_seconds": [1], "max_attempts": 1 }, "circuit": { "threshold": 100 },
    });
    api.destination(&sink.url("/ok"), &json!({ "custom_headers": { "X-Secret": "s3cret" } }));
    api.destination(&sink.url("/bad"), &once);
    let waits = api.destination(&sink.url("/waits"), &json!({ "ordering": "strict" }));
    api.post(&format!("/v1/destinations/{waits}/pause"), &json!({})).data(200);
    api.make("/v1/event-types", &json!({ "event_type": "order.paid", "schema": { "type": "object" } }));
    api.send(&path, &[("Idempotency-Key", "once")], b"{\"n\":0}");
    for number in 1..6 {
        api.send(&path, &[("X-Event-Type", "order.paid")], format!("{{\"n\":{number}}}").as_bytes());
    }
    wait_until("the first destinations are done", || {
        let stats = api.get("/v1/stats").data(200);
        let count = |status: &str| {
            let all = stats["by_status"].as_array()?;
            all.iter().find(|one| one["status"] == status)?["count"].as_i64()
        };
        (count("delivered") == Some(6) && count("dead_letter") == Some(6)).then_some(())
    });
    path
}

/// From then on nothing changes by itself.
fn pause_all(api: &Api) {
    for one in api.get("/v1/destinations").data(200).as_array().into_iter().flatten() {
        api.post(&format!("/v1/destinations/{}/pause", text(&one["id"])), &json!({})).data(200);
    }
}

#[test]
fn everything_moves_to_a_database_and_back() {
    let (sink, first) = (Sink::start(), Site::new());
    let gateway = first.start();
    let path = fill(&gateway.api(), &sink);
    let before = everything(&gateway.api());
    let key = gateway.api().key;
    let keyed = gateway.api().send(&path, &[("Idempotency-Key", "once")], b"{\"n\":0}");
    assert_eq!(gateway.stop().code, Some(0));

    let database = Server::shared().database();
    let moved = migrate(&sqlite(&first), &database);
    assert_eq!(moved.code, Some(0), "{}", moved.err);
    assert!(moved.out.starts_with("moved sqlite:"), "{}", moved.out);
    assert!(moved.err.contains("events: 6 rows, identical in both stores"), "{}", moved.err);
    let site = on(&database);
    let node = site.start();
    let api = Api { address: node.address(), key };
    assert_same(&before, &everything(&api));
    assert_eq!(api.send(&path, &[("Idempotency-Key", "once")], b"{\"n\":0}"), keyed, "the key is known");
    assert_eq!(node.stop().code, Some(0));

    let last = Site::new();
    let moved = migrate(&database, &sqlite(&last));
    assert_eq!(moved.code, Some(0), "{}", moved.err);
    let gateway = last.start();
    assert_same(&before, &everything(&gateway.api()));
    let waits = gateway.api().get("/v1/destinations").data(200);
    let waits = waits.as_array().and_then(|all| all.iter().find(|one| one["status"] == "paused")).unwrap();
    gateway.api().post(&format!("/v1/destinations/{}/resume", text(&waits["id"])), &json!({})).data(200);
    sink.wait_for("/waits", 6);
}

#[test]
fn a_move_that_was_cut_off_goes_on_and_nothing_starts_on_half_of_it() {
    let (sink, first) = (Sink::start(), Site::new());
    let gateway = first.start();
    fill(&gateway.api(), &sink);
    pause_all(&gateway.api());
    let lines = |number| format!("{{\"event_type\":\"a.b\",\"payload\":{{\"n\":{number}}}}}");
    let batch: Vec<String> = (0..1000).map(lines).collect();
    for _ in 0..3 {
        gateway.api().call("POST", "/v1/events/batch", &[], batch.join("\n").as_bytes()).data(202);
    }
    let (before, key) = (everything(&gateway.api()), gateway.api().key);
    assert_eq!(gateway.stop().code, Some(0));
    let (from, database) = (sqlite(&first), Server::shared().database());
    migrate_until(&from, &database, "attempts:");

    let refused = on(&database).refused();
    assert!(refused.err.contains("has not been finished"), "{}", refused.err);
    let other = Site::new();
    assert_eq!(other.start().stop().code, Some(0));
    let moved = migrate(&sqlite(&other), &database);
    assert!(moved.code == Some(1) && moved.err.contains("is not empty"), "{moved:?}");

    let moved = migrate(&from, &database);
    assert_eq!(moved.code, Some(0), "{}", moved.err);
    assert!(moved.err.contains("resuming the interrupted move from"), "{}", moved.err);
    let site = on(&database);
    let node = site.start();
    assert_same(&before, &everything(&Api { address: node.address(), key }));
    let moved = migrate(&from, &database);
    assert!(moved.code == Some(1) && moved.err.contains("nodes are running"), "{moved:?}");
}

#[test]
fn what_is_in_use_or_not_there_is_refused_in_a_sentence() {
    let site = Site::new();
    let gateway = site.start();
    let database = Server::shared().database();
    let check = |from: &str, to: &str, said: &str| {
        let moved = migrate(from, to);
        assert!(moved.code == Some(1) && moved.err.contains(said), "{from} {to}: {moved:?}");
        assert!(!moved.err.contains("hunter2") && !moved.err.contains("panicked"), "{moved:?}");
    };
    check(&sqlite(&site), &database, "in use by another process");
    check("sqlite:/nowhere/at/all", &database, "no store in /nowhere");
    check("sqlite:", &database, "--from: sqlite: must be followed");
    check("mysql://u:hunter2@h/d", &database, "--from must be sqlite:DIR or postgres://");
    check(&database, "postgres://u:hunter2@127.0.0.1:1/d", "there is no store of Postrider in it");
    assert_eq!(gateway.stop().code, Some(0));
    check(&sqlite(&site), &sqlite(&site), "in use by another process");
    check(&sqlite(&site), "postgres://u:hunter2@127.0.0.1:1/d", "cannot connect");
}
