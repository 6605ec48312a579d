//! The runbook as a program: conditions that are real, and what it says of them.

mod certificates;

use crate::dashboard::browser::Browser;
use crate::rig::desk::Desk;
use crate::rig::small_disk::SmallDisk;
use crate::rig::{Reply, Sink, Site, wait_until};
use serde_json::{Value, json};

/// What `doctor --json` says once it finds this code, and how it ends.
fn diagnosis(desk: &Desk, code: &str) -> (Value, i32) {
    wait_until(&format!("the doctor finds {code}"), || {
        let ran = desk.said(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("no JSON: {ran:?}"));
        let found = report["findings"].as_array()?.iter().find(|finding| finding["code"] == code)?.clone();
        Some((found, ran.code))
    })
}

fn commands(finding: &Value) -> String {
    finding["next"].as_array().unwrap().iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// Sends so many events in batches.
fn flood(desk: &Desk, count: usize) {
    let line = json!({ "event_type": "a.b", "payload": 1 }).to_string();
    let lines = vec![line; count].join("\n");
    desk.gateway.api().call("POST", "/v1/events/batch", &[], lines.as_bytes()).data(202);
}

#[test]
fn a_gateway_that_is_well_is_said_to_be() {
    let desk = Desk::new();
    assert_eq!(desk.said(&["doctor"]).out(0), "0 deliveries pending\nno problems found\n");
    let report = desk.said(&["doctor", "--json"]).json(0);
    assert_eq!((&report["severity"], &report["findings"]), (&json!("ok"), &json!([])));
}

/// A list of events looks through the newest 20,000 and no more.
#[test]
fn events_that_no_route_took_are_found_behind_however_many_that_one_took() {
    let desk = Desk::new();
    let api = desk.gateway.api();
    let (_, path) = api.source();
    api.send(&path, &[("x-event-type", "nobody.wants")], b"{}");
    let id = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:1/" }));
    api.make("/v1/routes", &json!({ "destination_id": id, "event_type_pattern": "a.*" }));
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    (0..21).for_each(|_| flood(&desk, 1000));
    let (finding, _) = diagnosis(&desk, "unrouted");
    let sentence = finding["diagnosis"].as_str().unwrap();
    assert!(sentence.starts_with("1 event of ") && sentence.contains(" matched no route "), "{sentence}");
}

#[test]
fn a_destination_that_hangs_is_named_with_the_command_that_stops_it() {
    let (desk, sink) = (Desk::new(), Sink::start());
    sink.always("/hangs", Reply::held());
    let id = desk.gateway.api().destination(&sink.url("/hangs"), &json!({ "name": "hangs" }));
    flood(&desk, 300);
    let (finding, code) = diagnosis(&desk, "one_destination");
    assert_eq!((finding["severity"].as_str(), code), (Some("warning"), 2));
    let sentence = finding["diagnosis"].as_str().unwrap();
    assert!(
        sentence.contains(&format!("\"hangs\" ({id}) has 300 of the 300 pending deliveries")),
        "{sentence}"
    );
    // None of its attempts has ended.
    let open = format!("postrider destinations circuit {id} open");
    assert!(commands(&finding).contains(&open), "{finding}");
    assert!(!commands(&finding).contains("circuit.threshold"), "its circuit goes by rate: {finding}");
    let command = format!("postrider destinations pause {id}");
    assert!(commands(&finding).contains(&command), "{finding}");
    // What it says to do can be done as it stands.
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    desk.said(&words).out(0);
    let (finding, _) = diagnosis(&desk, "paused");
    assert!(commands(&finding).contains(&format!("postrider destinations resume {id}")), "{finding}");
}

#[test]
fn a_destination_that_answers_500_has_its_circuit_told() {
    let (desk, sink) = (Desk::new(), Sink::start());
    sink.always("/fails", Reply::status(500));
    let settings = json!({ "name": "fails", "circuit": { "threshold": 2, "cooldown_seconds": 600 } });
    let id = desk.gateway.api().destination(&sink.url("/fails"), &settings);
    flood(&desk, 10);
    let (finding, code) = diagnosis(&desk, "circuit_open");
    assert_eq!((finding["severity"].as_str(), code), (Some("warning"), 2));
    assert!(finding["diagnosis"].as_str().unwrap().contains("The receiver responded 500"), "{finding}");
    assert!(
        commands(&finding).contains(&format!("postrider destinations circuit {id} half-open")),
        "{finding}"
    );
    let text = desk.said(&["doctor"]);
    assert!(text.out(2).contains("warning: The circuit of \"fails\""), "{text:?}");
}

#[test]
fn a_flood_that_takes_all_slots_is_a_matter_of_capacity() {
    let (desk, sink) = (Desk::with(&["--slots", "4"]), Sink::start());
    sink.always("/hangs", Reply::held());
    let api = desk.gateway.api();
    (0..4).for_each(|_| drop(api.destination(&sink.url("/hangs"), &json!({}))));
    flood(&desk, 50);
    let (finding, code) = diagnosis(&desk, "capacity");
    assert_eq!((finding["severity"].as_str(), code), (Some("critical"), 3));
    assert!(commands(&finding).contains("postrider serve --slots 8"), "{finding}");
}

#[test]
fn a_flood_that_is_refused_is_critical() {
    let (desk, sink) = (Desk::with(&["--backlog-max-rows", "100"]), Sink::start());
    sink.always("/hangs", Reply::held());
    desk.gateway.api().destination(&sink.url("/hangs"), &json!({}));
    flood(&desk, 150);
    let (finding, code) = diagnosis(&desk, "overloaded");
    assert_eq!((finding["severity"].as_str(), code), (Some("critical"), 3));
    assert!(finding["diagnosis"].as_str().unwrap().contains("backlog_max_rows"), "{finding}");
    assert!(commands(&finding).contains("postrider queue"), "{finding}");
}

#[test]
fn events_that_one_account_may_not_have_owed_are_told_while_others_are_taken() {
    let (desk, sink) = (Desk::new(), Sink::start());
    sink.always("/hangs", Reply::held());
    let api = desk.gateway.api();
    api.destination(&sink.url("/hangs"), &json!({}));
    let account = api.get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    api.patch(&format!("/v1/accounts/{account}"), &json!({ "max_pending": 1 })).data(200);
    let event = json!({ "event_type": "a.b", "payload": 1 });
    wait_until("an event is refused", || {
        (api.post("/v1/outbound-events", &event).status == 429).then_some(())
    });
    let (finding, code) = diagnosis(&desk, "shedding");
    assert_eq!((finding["severity"].as_str(), code), (Some("critical"), 3));
    assert!(commands(&finding).contains("postrider_shed"), "{finding}");
    wait_until("the overview says it too", || {
        Browser::signed_in(&api).page("/").contains("refused at a limit").then_some(())
    });
}

#[test]
fn a_disk_that_fills_is_told_and_a_full_one_is_critical_until_there_is_space() {
    let disk = SmallDisk::new(48 << 20);
    let site = Site::new().data_in(disk.path().join("data")).with(&["--disk-reserve", "8MiB"]);
    let desk = Desk::at(site);
    let little = disk.ballast(32 << 20);
    let (finding, code) = diagnosis(&desk, "disk_low");
    assert_eq!((finding["severity"].as_str(), code), (Some("warning"), 2));
    std::fs::remove_file(little).unwrap();
    let ballast = disk.ballast(42 << 20);
    let (finding, code) = diagnosis(&desk, "disk_full");
    assert_eq!((finding["severity"].as_str(), code), (Some("critical"), 3));
    assert!(commands(&finding).contains("df -h"), "{finding}");
    assert!(commands(&finding).contains("--retention-days"), "{finding}");
    std::fs::remove_file(ballast).unwrap();
    wait_until("the doctor finds nothing any more", || {
        (desk.said(&["doctor", "--json"]).code == 0).then_some(())
    });
}

#[test]
fn watching_says_whether_it_gets_better_and_ends_as_the_last_look() {
    let (desk, sink) = (Desk::new(), Sink::start());
    let api = desk.gateway.api();
    let id = api.destination(&sink.url("/in"), &json!({}));
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    flood(&desk, 20);
    let watch = ["doctor", "--json", "--watch", "--every", "1", "--looks", "2"];
    let looks = desk.said(&watch);
    let lines: Vec<Value> = looks.out(0).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["trend"], &lines[0]["pending"]), (&Value::Null, &json!(20)));
    assert_eq!((&lines[1]["trend"], &lines[1]["pending_before"]), (&json!("steady"), &json!(20)));
}

#[test]
fn watching_goes_on_while_the_gateway_is_away_and_ends_as_the_last_look() {
    let desk = Desk::new();
    let nowhere = ["--url", "http://127.0.0.1:9", "--key", "hk_x"];
    let watch =
        |flags: &[&str]| desk.said(&[&["doctor", "--watch", "--every", "1"], flags, &nowhere].concat());
    let looks = watch(&["--looks", "3", "--json"]);
    let lines: Vec<Value> = looks.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((looks.code, lines.len(), looks.err.contains("cannot be reached")), (3, 2, true), "{looks:?}");
    assert_eq!((&lines[0]["findings"][0]["code"], &lines[0]["pending"]), (&json!("no_look"), &Value::Null));
    let text = watch(&["--looks", "2"]);
    assert!(text.out.contains("could not be examined") && text.out.contains("is unknown"), "{text:?}");
    let wrong = desk.said(&["doctor", "--watch", "--key", "hk_wrong"]);
    assert!(wrong.err().contains("Send a valid key"), "waiting mends no key: {wrong:?}");
}

#[test]
fn keys_and_dead_letters_of_all_accounts_are_looked_at_for_an_operator() {
    let (desk, sink) = (Desk::new(), Sink::start());
    let api = desk.gateway.api();
    let account = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let account = account["account"]["id"].as_str().unwrap();
    let of_other = [("postrider-account", account)];
    let post = |path: &str, body: &Value| api.call("POST", path, &of_other, body.to_string().as_bytes());
    post("/v1/api-keys", &json!({ "name": "ends", "expires_in_seconds": 3600 })).data(201);
    sink.always("/gone", Reply::status(400));
    let url = sink.url("/gone");
    let retry = json!({ "delays_seconds": [0], "max_attempts": 1 });
    let made = json!({ "name": "gone", "url": url, "retry_policy": retry });
    let destination = post("/v1/destinations", &made).data(201)["id"].clone();
    post("/v1/routes", &json!({ "destination_id": destination })).data(201);
    let lines = vec![json!({ "event_type": "a.b", "payload": 1 }).to_string(); 12].join("\n");
    api.call("POST", "/v1/events/batch", &of_other, lines.as_bytes()).data(202);
    let (finding, _) = diagnosis(&desk, "dead_letters");
    assert!(commands(&finding).contains(&format!("--account {account}")), "{finding}");
    let (finding, _) = diagnosis(&desk, "key_expires");
    assert!(finding["diagnosis"].as_str().unwrap().contains(&format!("\"ends\" of {account}")), "{finding}");
    let own = desk.said(&["doctor", "--json", "--account", account]).json(2);
    assert!(own.to_string().contains("12 deliveries were dead-lettered"), "{own}");
}

#[test]
fn a_key_or_a_gateway_that_is_not_there_is_an_error() {
    let desk = Desk::new();
    let wrong = desk.said(&["doctor", "--key", "hk_wrong"]);
    assert!(wrong.err().contains("Send a valid key"), "{wrong:?}");
    let nowhere = desk.said(&["doctor", "--url", "http://127.0.0.1:9", "--key", "hk_x"]);
    assert_eq!((nowhere.code, nowhere.err.contains("cannot be reached")), (3, true), "{nowhere:?}");
    let read = desk.gateway.api().post("/v1/api-keys", &json!({ "name": "r", "scope": "read" })).data(201);
    desk.said(&["doctor", "--key", read["key"].as_str().unwrap()]).out(0);
}
