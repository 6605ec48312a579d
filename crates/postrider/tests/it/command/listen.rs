//! `listen`: what comes in at a gateway reaches a program that the gateway cannot reach.

use crate::rig::{Desk, Reply, Sink};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::Child;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

#[test]
fn events_are_sent_on_once_each_signed_anew_and_across_a_restart() {
    let mut desk = Desk::new();
    let sink = Sink::start();
    let (_, path) = desk.gateway.api().source();
    desk.gateway.api().send(&path, &[("x-event-type", "a.b")], b"before");
    let to = sink.url("/local");
    let mut child =
        desk.start(&["listen", "--forward-to", &to, "--type", "a.*", "--secret", SECRET, "--json"]);
    let mut said = begun(&mut child);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let line =
            lines.next().unwrap_or_else(|| panic!("it has ended: {:?}", said.by_ref().collect::<Vec<_>>()));
        serde_json::from_str::<Value>(&line.unwrap()).unwrap()
    };

    let large = "x".repeat(40_000);
    desk.gateway.api().send(&path, &[("x-event-type", "other")], b"{}");
    let first = desk.gateway.api().send(&path, &[("x-event-type", "a.b"), ("x-shop", "7")], large.as_bytes());
    let seen = next();
    assert_eq!((&seen["event_id"], &seen["status"]), (&Value::from(first.as_str()), &Value::from(200)));
    // It goes on after the gateway was away, with what came meanwhile and nothing twice.
    let Desk { site, url, variables, gateway } = desk;
    gateway.stop();
    desk = Desk { gateway: site.start(), site, url, variables };
    let second = desk.gateway.api().send(&path, &[("x-event-type", "a.c")], b"{}");
    assert_eq!(next()["event_id"], second.as_str());
    child.kill().unwrap();
    child.wait().unwrap();

    let arrivals = sink.arrivals_at("/local");
    assert_eq!(arrivals.len(), 2);
    assert_eq!(arrivals[0].body, large.as_bytes());
    assert_eq!(arrivals[0].headers.get("x-shop"), Some("7"));
    let signed = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| {
        let value = arrivals[0].headers.get(name).unwrap().parse().unwrap();
        (http::HeaderName::from_static(name), value)
    });
    let signed: http::HeaderMap = signed.into_iter().collect();
    standardwebhooks::Webhook::new(SECRET).unwrap().verify(&arrivals[0].body, &signed).unwrap();
}

/// Waits until it listens.
fn begun(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = said.next().unwrap();
    assert!(line.contains("forwarding new events"), "{line}");
    said
}

#[test]
fn a_gateway_that_is_killed_in_the_middle_costs_no_event_and_doubles_none() {
    let mut desk = Desk::new();
    let sink = Sink::start();
    let (_, path) = desk.gateway.api().source();
    // The first is held, so that the others wait in the stream and in the list when the gateway dies.
    sink.next("/local", [Reply::held()]);
    let mut child = desk.start(&["listen", "--forward-to", &sink.url("/local"), "--secret", SECRET]);
    let mut said = begun(&mut child);
    let send = |desk: &Desk, count: usize| -> Vec<String> {
        (0..count).map(|_| desk.gateway.api().send(&path, &[], b"{}")).collect()
    };
    let mut sent = send(&desk, 1);
    sink.wait_for("/local", 1);
    sent.extend(send(&desk, 50));
    let Desk { site, url, variables, gateway } = desk;
    gateway.kill();
    sink.release();
    assert!(said.next().unwrap().ends_with("trying again"));
    desk = Desk { gateway: site.start(), site, url, variables };
    sent.extend(send(&desk, 10));
    let arrived = sink.wait_for("/local", sent.len());
    sent.extend(send(&desk, 1));
    let last = sink.wait_for("/local", sent.len());
    child.kill().unwrap();
    child.wait().unwrap();
    let ids = last.iter().map(|arrival| arrival.headers.get("webhook-id").unwrap().to_owned());
    assert_eq!(ids.collect::<Vec<_>>(), sent, "{} had arrived before the last", arrived.len());
}

#[test]
fn a_source_is_named_and_a_refusal_is_shown_with_its_reason() {
    let desk = Desk::new();
    let sink = Sink::start();
    let api = desk.gateway.api();
    let made = |name: &str| {
        let source = api.post("/v1/sources", &serde_json::json!({ "name": name })).data(201);
        format!("/ingest/{}", source["path_token"].as_str().unwrap())
    };
    let (shop, other) = (made("shop"), made("other"));
    sink.always("/local", Reply::status(422).body(b"no such \x1b[31morder"));
    let mut child = desk.start(&["listen", "--forward-to", &sink.url("/local"), "--source", "shop"]);
    let _said = begun(&mut child);
    api.send(&other, &[], b"{}");
    let id = api.send(&shop, &[("x-event-type", "order.paid")], b"{}");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains(&id) && line.contains("order.paid  422 no such \\u{1b}[31morder  "), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
    let unknown = desk.said(&["listen", "--forward-to", &sink.url("/local"), "--source", "shopp"]);
    assert!(unknown.err().contains("shopp"), "{unknown:?}");
}

#[test]
fn where_to_post_is_said_and_what_is_not_signed_keeps_its_id() {
    let desk = Desk::new();
    let sink = Sink::start();
    let api = desk.gateway.api();
    let source = api.post("/v1/sources", &serde_json::json!({ "name": "shop" })).data(201);
    let url = source["ingest_url"].as_str().unwrap();
    let mut child = desk.start(&["listen", "--forward-to", &sink.url("/local"), "--source", "shop"]);
    let said = BufReader::new(child.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    assert!(
        said.contains(&format!("forwarding new events from {url} to {}; ", sink.url("/local"))),
        "{said}"
    );
    let path = format!("/ingest/{}", source["path_token"].as_str().unwrap());
    let plain = api.send(&path, &[], b"{}");
    let arrivals = sink.wait_for("/local", 1);
    assert_eq!(arrivals[0].headers.get("webhook-id"), Some(plain.as_str()));
    api.send(&path, &[("webhook-id", "msg_of_the_sender")], b"{}");
    let arrivals = sink.wait_for("/local", 2);
    assert_eq!(arrivals[1].headers.get("webhook-id"), Some("msg_of_the_sender"), "as it came");
    child.kill().unwrap();
    child.wait().unwrap();
}
