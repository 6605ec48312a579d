//! The log as programs read it: every line about a delivery or a replay says whose it is.

use crate::rig::api::text;
use crate::rig::{Reply, Sink, Site, wait_until};
use serde_json::{Value, json};

/// The first line with this message, as JSON, of a log in which every line is.
fn line(log: &str, message: &str) -> Value {
    let lines =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")));
    let mut with_it = lines.filter(|line: &Value| line["fields"]["message"] == message);
    with_it.next().unwrap_or_else(|| panic!("no line {message:?} in\n{log}"))["fields"].take()
}

#[test]
fn lines_about_a_delivery_and_a_replay_name_what_they_are_about() {
    let (sink, site) =
        (Sink::start(), Site::new().with(&["--log-format", "json", "--log", "info,postrider_engine=debug"]));
    sink.always("/in", Reply::status(500));
    let gateway = site.start();
    let made = gateway.api().post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let (account, api) = (&made["account"]["id"], gateway.api().with_key(&text(&made["api_key"]["key"])));
    let policy = json!({ "retry_policy": { "delays_seconds": [0.01], "max_attempts": 2, "jitter": "none" } });
    let destination = api.destination(&sink.url("/in"), &policy);
    let (_, path) = api.source();
    let event = api.send(&path, &[], b"{}");
    let delivery = api.event_once(&event, "dead_letter")["event"]["deliveries"][0]["id"].clone();
    sink.always("/in", Reply::status(200));
    let replay = text(&api.post("/v1/replays", &json!({})).data(202)["id"]);
    wait_until("the replay has ended", || {
        (api.get(&format!("/v1/replays/{replay}")).data(200)["state"] == "done").then_some(())
    });
    let log = gateway.stop().err;
    for message in ["attempt finished", "delivery dead-lettered"] {
        let fields = line(&log, message);
        assert_eq!(
            (&fields["event"], &fields["delivery"], &fields["destination"], &fields["account"]),
            (&json!(event), &delivery, &json!(destination), account),
            "{message}: {fields}"
        );
    }
    let ended = line(&log, "replay finished");
    assert_eq!((&ended["replay"], &ended["account"]), (&json!(replay), account), "{ended}");
    assert_eq!((&ended["done"], &ended["state"]), (&json!(1), &json!("done")), "{ended}");
}

#[test]
fn a_line_that_the_dead_letter_file_lost_names_its_account() {
    let sink = Sink::start();
    sink.always("/in", Reply::status(404));
    // A device that is always full: opening it works, writing to it does not.
    let site = Site::new().with(&["--log-format", "json", "--dead-letter-file", "/dev/full"]);
    let gateway = site.start();
    let api = gateway.api();
    let account = api.get("/v1/accounts").data(200)[0]["id"].clone();
    api.destination(
        &sink.url("/in"),
        &json!({ "retry_policy": { "delays_seconds": [0.01], "max_attempts": 1 } }),
    );
    let (_, path) = api.source();
    let event = api.send(&path, &[], b"{}");
    api.event_once(&event, "dead_letter");
    let fields =
        line(&gateway.stop().err, "failed to write a line of the dead-letter file; the line is lost");
    assert_eq!((&fields["event"], &fields["account"]), (&json!(event), &account), "{fields}");
}
