//! `replay`: for the routes of today, tried out, and to a URL from this machine.

use crate::rig::{Desk, Reply, Sink};
use serde_json::json;

#[test]
fn an_event_is_replayed_tried_out_and_sent_elsewhere() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/hook"), &json!({}));
    let (_, path) = api.source();
    let id = api.send(&path, &[("x-event-type", "a.b"), ("x-shop", "7")], b"{\"n\":1}");
    sink.wait_for("/hook", 1);
    api.event_once(&id, "delivered");

    let replayed = desk.said(&["replay", &id, "--json"]).json(0);
    let new = replayed["replay_event_id"].as_str().unwrap();
    assert_eq!(api.event_once(new, "delivered")["event"]["replay_of"], id.as_str());
    let said = desk.said(&["replay", &id]);
    assert!(said.out(0).contains("is queued; follow it with `postrider inspect evt_"), "{said:?}");
    sink.wait_for("/hook", 3);

    let tried = desk.said(&["replay", &id, "--dry-run"]);
    assert!(tried.out(0).contains(&format!("  receiver     yes       {}\n", sink.url("/hook"))), "{tried:?}");
    sink.always("/local", Reply::status(201).body(b"thanks"));
    let to = sink.url("/local");
    let dry = desk.said(&["replay", &id, "--to", &to, "--dry-run"]);
    assert!(dry.out(0).starts_with("7 bytes with "), "{dry:?}");
    let dry = desk.said(&["replay", &id, "--to", &to, "--dry-run", "--json"]).json(0);
    assert_eq!(
        (&dry["dry_run"], &dry["url"], &dry["body_bytes"]),
        (&json!(true), &json!(to), &json!(7)),
        "{dry}"
    );
    assert_eq!(dry["headers"]["x-shop"], "7", "{dry}");
    let sent = desk.said(&["replay", &id, "--to", &to]);
    assert!(sent.out(0).starts_with("201 after ") && sent.out.ends_with("thanks\n"), "{sent:?}");
    let arrived = &sink.arrivals_at("/local")[0];
    assert_eq!(arrived.body, b"{\"n\":1}");
    assert_eq!(arrived.headers.get("x-shop"), Some("7"));
    assert_eq!(sink.arrivals_at("/hook").len(), 3, "a dry run sends nothing");
}

#[test]
fn a_receiver_that_refuses_is_seen_by_the_exit_code() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    let (_, path) = api.source();
    let id = api.send(&path, &[], b"{}");
    sink.always("/local", Reply::status(422).body(b"no such order"));
    let to = sink.url("/local");
    let refused = desk.said(&["replay", &id, "--to", &to]);
    assert!(refused.err().ends_with(" responded 422\n"), "{refused:?}");
    assert!(refused.out.starts_with("422 after ") && refused.out.ends_with("no such order\n"), "{refused:?}");
    let told = desk.said(&["replay", &id, "--to", &to, "--json"]).json(1);
    assert_eq!((&told["status"], &told["body"]), (&json!(422), &json!("no such order")), "{told}");
}

#[test]
fn a_body_that_is_no_text_is_tried_out_as_it_is() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/hook"), &json!({}));
    let (_, path) = api.source();
    let id = api.send(&path, &[], b"{\"a\":\"\xff\"}");
    let tried = desk.said(&["replay", &id, "--dry-run"]);
    assert!(tried.out(0).contains("  yes  "), "{tried:?}");
    let told = desk.said(&["replay", &id, "--dry-run", "--json"]).json(0);
    let request = &told["routes"][0]["request"];
    let expected = (&json!("base64"), &json!("eyJhIjoi/yJ9"));
    assert_eq!((&request["body_encoding"], &request["body"]), expected, "{told}");
}

#[test]
fn a_dead_letter_is_tried_out_where_it_would_go_and_not_where_routes_lead() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    sink.always("/own", Reply::status(400));
    let policy = json!({ "name": "billing", "retry_policy": { "max_attempts": 1 } });
    let own = api.destination(&sink.url("/own"), &policy);
    let (_, path) = api.source();
    let event = api.send(&path, &[("x-event-type", "a.b")], b"{}");
    let dead = api.event_once(&event, "dead_letter");
    let letter = dead["event"]["deliveries"][0]["id"].as_str().unwrap();
    let later = api.destination(&sink.url("/later"), &json!({}));
    let tried = desk.said(&["replay", letter, "--dry-run"]);
    assert_eq!(tried.out(0), format!("{letter} would be replayed to billing ({})\n", sink.url("/own")));
    let told = desk.said(&["replay", letter, "--dry-run", "--json"]).json(0);
    assert_eq!((&told["dry_run"], &told["destination_id"]), (&json!(true), &json!(own)), "{told}");
    assert!(!told.to_string().contains(&later), "{told}");
    for route in api.get("/v1/routes").data(200).as_array().unwrap() {
        api.delete(&format!("/v1/routes/{}", route["id"].as_str().unwrap())).nothing();
    }
    api.delete(&format!("/v1/destinations/{own}")).nothing();
    let gone = desk.said(&["replay", letter, "--dry-run"]);
    assert!(gone.err().contains("destination was deleted"), "{gone:?}");
    assert_eq!(sink.count(), 1, "a dry run sends nothing");
}
