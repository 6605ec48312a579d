//! What befalls destinations is told by events of the gateway's own, to the operator and to the account.

use crate::rig::api::text;
use crate::rig::sink::Arrival;
use crate::rig::{Api, Gateway, Reply, Sink, Site, wait_until};
use serde_json::{Value, json};

/// A gateway whose operator is told at `/operator`, and the ids of that destination and of its account.
fn told_operator(sink: &Sink, args: &[&str]) -> (Site, Gateway, String) {
    let site = Site::new().with(args);
    let gateway = site.start();
    let operator = gateway.api().make(
        "/v1/destinations",
        &json!({ "name": "operator", "url": sink.url("/operator"), "retry_policy": give_up() }),
    );
    assert_eq!(gateway.stop().code, Some(0));
    let site = site.with(&["--operational-destination", &operator]);
    let gateway = site.start();
    (site, gateway, operator)
}

/// Whatever fails is given up on at once.
fn give_up() -> Value {
    json!({ "delays_seconds": [0.01], "max_attempts": 1 })
}

/// An account that is told at `/tenant`.
fn told_tenant(admin: &Api, sink: &Sink) -> (Api, String) {
    let made = admin.post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let (api, account) = (admin.with_key(&text(&made["api_key"]["key"])), text(&made["account"]["id"]));
    let own = json!({ "name": "told", "url": sink.url("/tenant"), "retry_policy": give_up() });
    let chosen = json!({ "operational_destination_id": api.make("/v1/destinations", &own) });
    let shown = api.patch(&format!("/v1/accounts/{account}"), &chosen).data(200);
    assert_eq!(shown["operational_destination_id"], chosen["operational_destination_id"]);
    (api, account)
}

fn body(arrival: &Arrival) -> Value {
    serde_json::from_slice(&arrival.body).expect("an operational event is JSON")
}

/// The types that a path was told of, in their order.
fn types(sink: &Sink, path: &str) -> Vec<String> {
    sink.arrivals_at(path).iter().map(|arrival| text(&body(arrival)["type"])).collect()
}

#[test]
fn a_storm_of_dead_letters_is_one_event_for_the_operator_and_one_for_the_account() {
    let sink = Sink::start();
    sink.always("/in", Reply::status(404));
    let (_site, gateway, _) = told_operator(&sink, &[]);
    let (api, account) = told_tenant(&gateway.api(), &sink);
    let settings = json!({ "name": "shop", "retry_policy": give_up(), "circuit": { "threshold": 10_000 } });
    let destination = api.destination(&sink.url("/in"), &settings);
    let (_, path) = api.source();
    let first = api.send(&path, &[], b"{}");
    for told in [sink.wait_for("/operator", 1), sink.wait_for("/tenant", 1)] {
        let event = body(&told[0]);
        assert_eq!(event["type"], "postrider.dead_letter.created");
        let data = &event["data"];
        assert_eq!((&data["account_id"], &data["destination_id"]), (&json!(account), &json!(destination)));
        assert_eq!((&data["event_id"], &data["destination_name"]), (&json!(first), &json!("shop")));
        assert_eq!(
            (&data["reason"], &data["count"], &data["untold"]),
            (&json!("attempts"), &json!(1), &json!(0))
        );
        assert_eq!(told[0].headers.get("x-event-type"), Some("postrider.dead_letter.created"));
        assert!(told[0].headers.get("webhook-signature").is_some(), "signed as any delivery");
    }
    (0..39).for_each(|_| drop(api.send(&path, &[], b"{}")));
    let last = api.send(&path, &[], b"{}");
    api.event_once(&last, "dead_letter");
    wait_until("all of them are dead", || {
        let found = api.get("/v1/dead-letters?limit=200").data(200);
        (found["items"].as_array()?.len() == 41).then_some(())
    });
    assert_eq!((sink.arrivals_at("/operator").len(), sink.arrivals_at("/tenant").len()), (1, 1));
}

#[test]
fn a_circuit_that_opens_and_closes_and_a_destination_that_is_disabled_are_told() {
    let sink = Sink::start();
    sink.always("/in", Reply::status(500));
    let (_site, gateway, _) = told_operator(&sink, &[]);
    let (api, _) = told_tenant(&gateway.api(), &sink);
    let destination = api.destination(&sink.url("/in"), &json!({ "circuit": { "threshold": 1 } }));
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    sink.wait_for("/tenant", 1);
    sink.always("/in", Reply::status(200));
    api.post(&format!("/v1/destinations/{destination}/circuit"), &json!({ "state": "half_open" })).data(200);
    sink.wait_for("/tenant", 2);
    api.patch(&format!("/v1/destinations/{destination}"), &json!({ "active": false })).data(200);
    sink.wait_for("/tenant", 3);
    sink.wait_for("/operator", 3);
    let expected = ["postrider.circuit.opened", "postrider.circuit.closed", "postrider.destination.disabled"];
    assert_eq!(types(&sink, "/tenant"), expected);
    assert_eq!(types(&sink, "/operator"), expected);
}

#[test]
fn what_befalls_the_destinations_that_are_told_makes_no_circle() {
    let sink = Sink::start();
    ["/in", "/operator", "/tenant"].iter().for_each(|path| sink.always(path, Reply::status(404)));
    let (_site, gateway, operator) = told_operator(&sink, &[]);
    let admin = gateway.api();
    let (api, _) = told_tenant(&admin, &sink);
    api.destination(&sink.url("/in"), &json!({ "retry_policy": give_up() }));
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    // Of the event's own end both are told, of the end of what the account was told the operator alone.
    sink.wait_for("/tenant", 1);
    sink.wait_for("/operator", 2);
    wait_until("all that the operator was told is given up on", || {
        let found = admin.get(&format!("/v1/dead-letters?destination_id={operator}")).data(200);
        (found["items"].as_array()?.len() == 2).then_some(())
    });
    let made = |api: &Api| api.get("/v1/events?event_type=postrider.**").data(200)["total"].clone();
    assert_eq!((made(&admin), made(&api)), (json!(2), json!(1)), "and of that nobody");
}

#[test]
fn what_is_told_of_a_dead_letter_is_as_durable_as_it() {
    let sink = Sink::start();
    sink.always("/in", Reply::status(404));
    sink.always("/operator", Reply::held());
    let (site, gateway, _) = told_operator(&sink, &[]);
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({ "retry_policy": give_up() }));
    let (_, path) = api.source();
    let event = api.send(&path, &[], b"{}");
    api.event_once(&event, "dead_letter");
    gateway.kill();
    sink.release();
    let gateway = site.start();
    let told = gateway.api().get("/v1/events?event_type=postrider.dead_letter.*").data(200);
    let id = text(&told["items"][0]["id"]);
    gateway.api().event_once(&id, "delivered");
}

#[test]
fn an_account_that_reaches_its_limit_is_told_with_the_limit() {
    let sink = Sink::start();
    let (_site, gateway, _) = told_operator(&sink, &[]);
    let (api, account) = told_tenant(&gateway.api(), &sink);
    gateway.api().patch(&format!("/v1/accounts/{account}"), &json!({ "max_pending": 2 })).data(200);
    let destination = api.destination(&sink.url("/in"), &json!({}));
    api.post(&format!("/v1/destinations/{destination}/pause"), &json!({})).data(200);
    let (_, path) = api.source();
    wait_until("no more is taken", || (api.call("POST", &path, &[], b"{}").status == 429).then_some(()));
    for told in [sink.wait_for("/operator", 1), sink.wait_for("/tenant", 1)] {
        let event = body(&told[0]);
        assert_eq!(event["type"], "postrider.backlog.over_limit");
        assert_eq!(
            (&event["data"]["limit"], &event["data"]["account_id"]),
            (&json!("max_pending"), &json!(account))
        );
    }
}

#[test]
fn a_gateway_that_reaches_its_limit_tells_the_operator_of_all_accounts() {
    let sink = Sink::start();
    let (_site, gateway, _) = told_operator(&sink, &["--backlog-max-rows", "5"]);
    // Alone an account has no share to keep to, so it is all accounts that are refused. Nothing moves then.
    let api = gateway.api();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    api.post(&format!("/v1/destinations/{destination}/pause"), &json!({})).data(200);
    let line = json!({ "event_type": "a.b", "payload": 1 }).to_string();
    api.call("POST", "/v1/events/batch", &[], vec![line; 10].join("\n").as_bytes()).data(202);
    let (_, path) = api.source();
    wait_until("no more is taken", || (api.call("POST", &path, &[], b"{}").status == 503).then_some(()));
    let told = body(&sink.wait_for("/operator", 1)[0]);
    assert_eq!(told["type"], "postrider.backlog.over_limit");
    assert_eq!(told["data"]["limit"], "backlog_max_rows", "{told}");
    assert_eq!(told["data"].get("account_id"), Some(&Value::Null), "{told}");
}

#[test]
fn only_a_destination_of_the_account_can_be_told() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let made = admin.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let (theirs, account) = (admin.with_key(&text(&made["api_key"]["key"])), text(&made["account"]["id"]));
    let ours = admin.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    for bad in [json!(ours), json!("x"), json!(1), json!("dst_0000000000000")] {
        let answer =
            theirs.patch(&format!("/v1/accounts/{account}"), &json!({ "operational_destination_id": bad }));
        let sentence = "operational_destination_id must be the id of a destination of the account.";
        assert_eq!(answer.refusal(422), sentence, "{bad}");
    }
    let cleared = json!({ "operational_destination_id": null });
    theirs.patch(&format!("/v1/accounts/{account}"), &cleared).data(200);
    let refused = Site::new().with(&["--operational-destination", "somewhere"]).refused();
    assert_eq!(refused.code, Some(1));
    let sentence = "--operational-destination: must be the id of a destination, dst_…, not \"somewhere\"";
    assert!(refused.err.contains(sentence), "{}", refused.err);
}
