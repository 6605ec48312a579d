//! `listen`: what comes in at a gateway reaches a program that the gateway cannot reach.

use crate::rig::{Desk, Sink};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};

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
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("goes to"), "{line}");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();

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
