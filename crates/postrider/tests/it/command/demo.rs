//! `demo` and `top`.

use crate::rig::{Desk, Sink};
use serde_json::{Value, json};

#[test]
fn a_demonstration_loses_nothing_leaves_nothing_behind_and_its_healthy_one_is_unaffected() {
    let desk = Desk::new();
    let place = desk.site.path().join("temporary");
    std::fs::create_dir(&place).unwrap();
    let mut command = desk.command(&["demo", "--seconds", "20", "--json"]);
    let ran = command.env("TMPDIR", &place).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said} {}", String::from_utf8_lossy(&ran.stderr));
    let figures: Value = serde_json::from_str(&said).unwrap();
    assert!(figures["accepted"].as_u64().unwrap() > 500, "{figures}");
    for (field, wanted) in [
        ("lost", json!(0)),
        ("not_arrived_at_healthy", json!(0)),
        ("duplicates", json!(0)),
        ("healthy_unaffected", json!(true)),
        ("circuit_of_down_opened", json!(true)),
    ] {
        assert_eq!(figures[field], wanted, "{figures}");
    }
    assert_eq!(figures["destinations"].as_array().unwrap().len(), 5);
    assert!(figures["healthy_p99_ms"]["together"].as_f64().unwrap() > 0.0, "{figures}");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "the store is gone");
}

#[test]
fn top_shows_destinations_by_their_backlog() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/a"), &json!({ "name": "idle" }));
    let busy = api.destination(&sink.url("/b"), &json!({ "name": "busy" }));
    api.post(&format!("/v1/destinations/{busy}/pause"), &json!({})).data(200);
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    let shown = desk.said(&["top"]);
    assert!(shown.out(0).starts_with("DESTINATION") && shown.out.contains("busy"), "{shown:?}");
    assert_eq!(desk.said(&["top", "--json"]).json(0).as_array().unwrap().len(), 2);
}
