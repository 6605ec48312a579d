//! The circuit of a destination: opens on failures, is probed by one, closes slowly, and outlives the process.

use super::Stage;
use super::stage::patient;
use crate::rig::random::Random;
use crate::rig::{Reply, wait_until};
use crate::watching::samples::Samples;
use serde_json::{Value, json};
use std::time::Duration;

/// For a probe that can be told from what would come beside it.
const SLOW: Duration = Duration::from_millis(300);
/// Clocks have steps of a millisecond.
const STEP: Duration = Duration::from_millis(5);

fn settings(threshold: u32, cooldown_seconds: u64, max_concurrency: u32) -> Value {
    json!({
        "circuit": { "threshold": threshold, "cooldown_seconds": cooldown_seconds },
        "max_concurrency": max_concurrency, "retry_policy": patient(),
    })
}

#[test]
fn a_circuit_opens_after_failures_in_a_row_and_doubles_its_rest() {
    let stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::status(500));
    let circuit = json!({ "threshold": 3, "cooldown_seconds": 1, "cooldown_max_seconds": 60 });
    let id = stage.destination(
        "in",
        3,
        &json!({ "circuit": circuit, "max_concurrency": 1, "retry_policy": patient() }),
    );
    stage.send_many("in", 4);
    let open = stage.view_once(&id, "circuit_state", &json!("open"));
    assert_eq!((&open["pending"], &open["waiting_for"]), (&json!(4), &json!("circuit")), "{open}");
    assert!(open["waiting_until"].is_string(), "{open}");
    let arrivals = stage.sink.wait_for("/in", 5);
    let apart = |later: usize| arrivals[later].began_at - arrivals[later - 1].began_at;
    assert!(apart(2) < Duration::from_secs(1), "three in a row: {:?}", apart(2));
    assert!(apart(3) + STEP >= Duration::from_secs(1), "the probe comes after the cooldown: {:?}", apart(3));
    assert!(apart(4) + STEP >= Duration::from_secs(2), "the next after twice of it: {:?}", apart(4));
    stage.view_once(&id, "circuit_state", &json!("open"));
    assert_eq!(stage.view(&id)["pending"], 4);
}

#[test]
fn one_probe_closes_the_circuit_and_then_it_goes_up_step_by_step() {
    let stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &settings(1, 1, 8));
    stage.pause(&id);
    stage.sink.next("/in", vec![Reply::status(500); 8]);
    stage.sink.always("/in", Reply::status(200).after(SLOW));
    let events = stage.send_many("in", 16);
    stage.resume(&id);
    stage.view_once(&id, "circuit_state", &json!("open"));
    stage.view_once(&id, "circuit_state", &json!("half_open"));
    wait_until("it recovers", || {
        let view = stage.view(&id);
        let limit = view["concurrency"]["limit"].as_u64()?;
        (view["concurrency"]["reason"] == "recovering" && limit < 8).then_some(())
    });
    stage.all_delivered(&events);
    assert_eq!(stage.view(&id)["circuit_state"], "closed");
    let arrivals = stage.sink.arrivals_at("/in");
    assert_eq!(arrivals.len(), 8 + 16, "eight that failed, each event once more");
    // It begins with the first failure; the others of the eight may arrive after that on a busy machine.
    assert!(arrivals[8].began_at - arrivals[0].began_at + STEP >= Duration::from_secs(1), "a cooldown");
    // One probe, then one, two and four at once: each step begins when the one before has been answered.
    for (first, last) in [(8, 9), (9, 10), (10, 12), (12, 16)] {
        let apart = arrivals[last].began_at - arrivals[first].began_at;
        assert!(apart >= SLOW, "from arrival {first} to {last}: {apart:?}");
    }
}

/// Which of so many answers are errors, by the toss of a coin.
fn tosses(count: usize) -> Vec<bool> {
    let mut random = Random::seeded(7);
    (0..count).map(|_| random.below(2) == 0).collect()
}

/// After which answers a circuit of three failures rests, when one comes after the other: the third in a row, and a probe.
fn rests(errors: &[bool]) -> Vec<usize> {
    let (mut rests, mut in_a_row, mut is_open) = (Vec::new(), 0, false);
    for (number, is_error) in errors.iter().enumerate() {
        in_a_row = if *is_error { in_a_row + 1 } else { 0 };
        is_open = *is_error && (is_open || in_a_row == 3);
        if is_open {
            rests.push(number);
            in_a_row = 0;
        }
    }
    rests
}

#[test]
fn a_receiver_that_fails_half_of_the_time_opens_the_circuit_again_and_again_and_gets_all_in_the_end() {
    let (stage, errors) = (Stage::new(&[]), tosses(40));
    let expected = rests(&errors);
    assert!(expected.windows(2).any(|pair| pair[1] > pair[0] + 3), "it closes in between: {expected:?}");
    let reply = |is_error: &bool| Reply::status(if *is_error { 500 } else { 200 });
    stage.sink.next("/in", errors.iter().map(reply));
    let circuit = json!({ "threshold": 3, "cooldown_seconds": 1, "cooldown_max_seconds": 1 });
    let settings = json!({ "circuit": circuit, "max_concurrency": 1, "retry_policy": patient() });
    let id = stage.destination("in", 3, &settings);
    let events = stage.send_many("in", 30);
    stage.all_delivered(&events);
    let arrivals = stage.sink.arrivals_at("/in");
    let failed = errors.iter().filter(|is_error| **is_error).count();
    assert_eq!(arrivals.len(), events.len() + failed, "each again for each of its failures");
    for number in &expected {
        let rest = arrivals[number + 1].began_at - arrivals[*number].began_at;
        assert!(rest + STEP >= Duration::from_secs(1), "after answer {number} it rested for {rest:?}");
    }
    let view = stage.view(&id);
    assert_eq!((&view["circuit_state"], &view["pending"]), (&json!("closed"), &json!(0)), "{view}");
    // It opened so often and not once more, and each probe that was taken closed it.
    let closed = expected.iter().filter(|number| !errors[**number + 1]).count();
    let seen = Samples::scrape(&stage.api);
    let to =
        |state: &str| seen.sum("postrider_circuit_transitions_total", &[&format!("to=\"{state}\"")]) as usize;
    assert_eq!((to("open"), to("closed")), (expected.len(), closed));
}

#[test]
fn an_open_circuit_survives_a_kill_and_a_restart() {
    let mut stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::status(500));
    let id = stage.destination("in", 3, &settings(3, 3600, 2));
    stage.send_many("in", 4);
    stage.view_once(&id, "circuit_state", &json!("open"));
    stage.pass_a_turn();
    let attempts = stage.sink.arrivals_at("/in").len();
    assert!((3..=4).contains(&attempts), "{attempts}");
    for start in ["after a kill", "after a stop"] {
        if start == "after a kill" {
            stage.kill();
        } else {
            stage.restart();
        }
        stage.pass_a_turn();
        let view = stage.view(&id);
        assert_eq!(
            (&view["circuit_state"], &view["pending"]),
            (&json!("open"), &json!(4)),
            "{start}: {view}"
        );
        assert_eq!(stage.sink.arrivals_at("/in").len(), attempts, "{start}");
    }
    stage.sink.always("/in", Reply::status(200));
    assert_eq!(stage.order_circuit(&id, "closed")["circuit_state"], "closed");
    stage.view_once(&id, "pending", &json!(0));
    assert_eq!(stage.sink.arrivals_at("/in").len(), attempts + 4);
}

#[test]
fn a_probe_that_a_kill_cut_off_is_made_again_alone() {
    let mut stage = Stage::new(&[]);
    stage.sink.next("/in", [Reply::status(500), Reply::held()]);
    stage.sink.always("/in", Reply::status(200).after(SLOW));
    let id = stage.destination("in", 3, &settings(1, 1, 8));
    let events = stage.send_many("in", 1);
    stage.view_once(&id, "circuit_state", &json!("open"));
    let waiting = stage.send_many("in", 8);
    stage.view_once(&id, "circuit_state", &json!("half_open"));
    stage.sink.wait_for("/in", 2);
    stage.kill();
    stage.all_delivered(&events);
    stage.all_delivered(&waiting);
    let arrivals = stage.sink.arrivals_at("/in");
    let apart = arrivals[3].began_at - arrivals[2].began_at;
    assert!(apart >= SLOW, "beside the probe came another after {apart:?}");
}

#[test]
fn an_operator_opens_probes_and_closes_a_circuit() {
    let mut stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &settings(3, 3600, 5));
    assert_eq!(stage.order_circuit(&id, "open")["circuit_state"], "open");
    let events = stage.send_many("in", 3);
    stage.kill();
    stage.pass_a_turn();
    let view = stage.view(&id);
    assert_eq!((&view["circuit_state"], &view["pending"]), (&json!("open"), &json!(3)), "{view}");
    assert_eq!(view["waiting_until"], Value::Null, "time alone does not end it");
    assert!(stage.sink.arrivals_at("/in").is_empty(), "an operator's word survives a kill");

    stage.sink.next("/in", [Reply::status(500)]);
    stage.order_circuit(&id, "half_open");
    stage.sink.wait_for("/in", 1);
    stage.view_once(&id, "circuit_state", &json!("open"));
    stage.pass_a_turn();
    assert_eq!(stage.sink.arrivals_at("/in").len(), 1, "one probe and nothing else");

    assert_eq!(stage.order_circuit(&id, "closed")["circuit_state"], "closed");
    stage.all_delivered(&events);
}

#[test]
fn what_an_operator_was_told_is_done_whenever_it_is_killed() {
    let mut stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &json!({}));
    for state in ["open", "closed"].repeat(6) {
        stage.order_circuit(&id, state);
        stage.kill();
        stage.view_once(&id, "circuit_state", &json!(state));
    }
}

#[test]
fn a_state_that_no_circuit_has_is_refused_with_its_field() {
    let stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &json!({}));
    let path = format!("/v1/destinations/{id}/circuit");
    for (body, status) in [
        (json!({}), 400),
        (json!({ "state": null }), 400),
        (json!({ "state": "" }), 422),
        (json!({ "state": "ajar" }), 422),
        (json!({ "state": "OPEN" }), 422),
        (json!({ "state": 1 }), 422),
        (json!({ "state": ["open"] }), 422),
    ] {
        let answer = stage.api.post(&path, &body);
        let sentence = answer.refusal(status);
        assert!(sentence.starts_with("state "), "{body}: {sentence}");
        assert_eq!(answer.json()["field"], "state", "{body}");
    }
    assert_eq!(stage.api.post(&path, &json!({ "state": "open", "for": 5 })).json()["field"], "for");
    assert_eq!(stage.view(&id)["circuit_state"], "closed", "what is refused changes nothing");
    let other = stage.api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let stranger = stage.api.with_key(other["api_key"]["key"].as_str().unwrap());
    stranger.post(&path, &json!({ "state": "open" })).refusal(404);
    stage.api.post("/v1/destinations/dst_0000000000000/circuit", &json!({ "state": "open" })).refusal(404);
}

#[test]
fn another_url_or_credential_is_tried_at_once() {
    let stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::status(500));
    let id = stage.destination("in", 3, &settings(2, 3600, 1));
    let path = format!("/v1/destinations/{id}");
    let opens = || {
        stage.send_many("in", 3);
        stage.view_once(&id, "circuit_state", &json!("open"));
    };
    opens();
    stage.api.patch(&path, &json!({ "name": "another name" })).data(200);
    assert_eq!(stage.view(&id)["circuit_state"], "open", "the receiver is the same");
    stage.api.patch(&path, &json!({ "url": stage.sink.url("/moved") })).data(200);
    stage.sink.wait_for("/moved", 3);
    stage.view_once(&id, "circuit_state", &json!("closed"));

    stage.sink.always("/moved", Reply::status(500));
    opens();
    stage.sink.always("/moved", Reply::status(200));
    let token = json!({ "auth_config": { "type": "bearer", "token": "another" } });
    stage.api.patch(&path, &token).data(200);
    stage.view_once(&id, "circuit_state", &json!("closed"));
    stage.view_once(&id, "pending", &json!(0));
}
