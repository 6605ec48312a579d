//! `dlq`: looking at dead letters, sending them again, letting them go.

use crate::rig::{Desk, Reply, Sink, wait_until};
use serde_json::json;

struct Dead {
    desk: Desk,
    sink: Sink,
    destination: String,
    deliveries: Vec<String>,
}

/// A gateway with so many dead letters.
fn dead(count: usize) -> Dead {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    sink.always("/hook", Reply::status(400).body(b"no"));
    let policy = json!({ "name": "billing", "retry_policy": { "delays_seconds": [1], "max_attempts": 1 }, "circuit": { "threshold": 10_000 } });
    let destination = api.destination(&sink.url("/hook"), &policy);
    let (_, path) = api.source();
    let events: Vec<String> =
        (0..count).map(|_| api.send(&path, &[("x-event-type", "a.b")], b"{\"n\":1}")).collect();
    let died = |id: &String| {
        let event = api.event_once(id, "dead_letter");
        event["event"]["deliveries"][0]["id"].as_str().unwrap().to_owned()
    };
    let deliveries = events.iter().map(died).collect();
    Dead { desk, sink, destination, deliveries }
}

#[test]
fn dead_letters_are_listed_shown_and_exported() {
    let Dead { desk, deliveries, destination, .. } = dead(3);
    let list = desk.said(&["dlq", "list", "--destination", &destination, "--type", "a.*"]);
    for delivery in &deliveries {
        assert!(list.out(0).contains(delivery), "{list:?}");
    }
    assert!(list.out.contains("billing") && list.out.contains("a.b"), "{list:?}");
    let shown = desk.said(&["dlq", "show", &deliveries[0]]);
    assert!(shown.out(0).contains("to billing (http") && shown.out.contains("     | no\n"), "{shown:?}");
    let exported = desk.said(&["dlq", "export", "--format", "full"]);
    assert_eq!(exported.out(0).lines().count(), 3);
    for line in exported.out.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["destination_id"], destination.as_str());
    }
    assert_eq!(desk.said(&["dlq", "list", "--until", "1h", "--json"]).json(0)["items"], json!([]));
    let wrong = desk.said(&["dlq", "export", "--reason", "bored"]);
    assert!(wrong.err().contains("reason"), "a refusal of a stream has its sentence: {wrong:?}");
}

#[test]
fn dead_letters_are_sent_again_one_by_one_and_all_at_once() {
    let Dead { desk, sink, deliveries, .. } = dead(4);
    sink.always("/hook", Reply::status(200));
    let unclear = desk.said(&["dlq", "replay"]);
    assert!(unclear.err().contains("give an ID, a filter such as --destination, or --all"), "{unclear:?}");
    assert!(desk.said(&["dlq", "replay", &deliveries[0]]).out(0).contains("is queued again"));
    let dry = desk.said(&["dlq", "replay", "--all", "--dry-run"]);
    assert_eq!(dry.out(0), "3 dead letters would be replayed\n");
    let all = desk.said(&["dlq", "replay", "--all"]);
    assert!(all.out(0).starts_with("done: 3 of 3 replayed  (rpl_"), "{all:?}");
    let job = all.out.split(['(', ')']).nth(1).unwrap();
    let again = desk.said(&["dlq", "replay", "--job", job]);
    assert!(again.out(0).starts_with("done: 3 of 3"), "{again:?}");
    sink.wait_for("/hook", 8);
    let api = desk.gateway.api();
    wait_until("nothing is dead", || {
        api.get("/v1/dead-letters").data(200)["items"].as_array().unwrap().is_empty().then_some(())
    });
}

#[test]
fn a_dry_run_of_one_sends_nothing_and_what_makes_no_sense_for_one_is_refused() {
    let Dead { desk, sink, deliveries, destination } = dead(2);
    let one = deliveries[0].as_str();
    let dry = desk.said(&["dlq", "replay", one, "--dry-run"]);
    assert_eq!(dry.out(0), "1 dead letter would be replayed\n");
    let dry = desk.said(&["dlq", "replay", one, "--dry-run", "--json"]).json(0);
    assert_eq!(dry, json!({ "dry_run": true, "total": 1 }));
    let unknown = desk.said(&["dlq", "replay", "dlv_0000000000000", "--dry-run"]);
    assert!(unknown.err().contains("dead letter not found"), "{unknown:?}");
    let of_one = ["dlq", "replay", one];
    for other in [vec!["--rate", "5"], vec!["--detach"], vec!["--destination", &destination], vec!["--all"]] {
        let refused = desk.said(&[&of_one[..], &other].concat());
        assert!(refused.code == 1 && refused.err.contains("cannot be used with"), "{refused:?}");
    }
    for other in [vec!["--rate", "5"], vec!["--dry-run"], vec!["--destination", &destination]] {
        let refused = desk.said(&[&["dlq", "replay", "--job", "rpl_0000000000000"][..], &other].concat());
        assert!(refused.code == 1 && refused.err.contains("cannot be used with"), "{refused:?}");
    }
    let discarded = desk.said(&["dlq", "discard", one, "--destination", &destination, "--yes"]);
    assert!(discarded.err().contains("cannot be used with"), "{discarded:?}");
    let api = desk.gateway.api();
    let left = api.get("/v1/dead-letters").data(200)["items"].as_array().unwrap().len();
    assert_eq!((left, sink.count(), api.get("/v1/replays").data(200)), (2, 2, json!([])), "nothing was done");
}

#[test]
fn dead_letters_are_let_go_only_when_somebody_agrees() {
    let Dead { desk, deliveries, .. } = dead(3);
    let asked = desk.said(&["dlq", "discard", "--all"]);
    assert!(asked.err().contains("; use --yes"), "{asked:?}");
    assert_eq!(desk.said(&["dlq", "discard", &deliveries[0], "--yes"]).out(0), "1 discarded\n");
    let gone = desk.said(&["dlq", "discard", &deliveries[0], "--yes"]);
    assert!(gone.err().contains("dead letter not found"), "{gone:?}");
    assert_eq!(desk.said(&["dlq", "discard", "--all", "--yes", "--json"]).json(0), json!({ "discarded": 2 }));
}
