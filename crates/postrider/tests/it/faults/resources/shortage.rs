//! What the gateway's own machine has no more of is no failure of a receiver: `shortage.c`, and a real limit.

use crate::rig::client::{Client, request};
use crate::rig::{Api, Reply, Sink, Site, preload, wait_until};
use crate::watching::Samples;
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};
use std::path::PathBuf;

const EVENTS: usize = 30;
/// So many tries in vain would have opened the circuit and used up every attempt.
const DEFERRED_MIN: f64 = 25.0;

/// Few failures open its circuit, and few attempts make a dead letter.
fn settings() -> Value {
    json!({
        "max_concurrency": 10,
        "circuit": { "threshold": 3 },
        "retry_policy": { "delays_seconds": [0.1], "max_attempts": 2, "jitter": "none" },
    })
}

/// All have come, each by its first attempt, and nothing was learned of the receiver.
fn check_unharmed(api: &Api, destination: &str, events: &[String]) {
    for event in events {
        let attempts = api.event_once(event, "delivered")["attempts"].as_array().map(Vec::len);
        assert_eq!(attempts, Some(1), "{event}");
    }
    let found = api.get(&format!("/v1/destinations/{destination}")).data(200);
    assert_eq!(
        (&found["circuit_state"], &found["concurrency"]["reason"]),
        (&json!("closed"), &json!("configured"))
    );
    assert_eq!(Samples::scrape(api).sum("postrider_dead_letters_total", &[]), 0.0);
}

struct Machine {
    site: Site,
    file: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let site = Site::new().variable("LD_PRELOAD", preload::library("faults/resources/shortage.c"));
        let file = site.path().join("shortage");
        Machine { site: site.variable("SHORTAGE_FILE", &file), file }
    }

    fn fails(&self, call: &str, error: Errno) {
        let new = self.file.with_extension("new");
        std::fs::write(&new, format!("{call} {}", error.raw_os_error())).unwrap();
        std::fs::rename(&new, &self.file).unwrap();
    }

    fn recovers(&self) {
        std::fs::remove_file(&self.file).unwrap();
    }
}

#[test]
fn what_the_machine_lacks_is_no_attempt_and_no_failure_of_the_receiver() {
    let machine = Machine::new();
    let (sink, gateway) = (Sink::start(), machine.site.start());
    let api = gateway.api();
    let (_, path) = api.source();
    let lacking = [
        ("socket", Errno::MFILE, "file_descriptors"),
        ("socket", Errno::NFILE, "file_descriptors"),
        ("socket", Errno::NOBUFS, "memory"),
        ("connect", Errno::NOMEM, "memory"),
        ("connect", Errno::ADDRNOTAVAIL, "local_ports"),
        ("send", Errno::NOBUFS, "memory"),
        ("send", Errno::NOMEM, "memory"),
    ];
    for (call, error, resource) in lacking {
        let destination = api.destination(&sink.url("/in"), &settings());
        let label = format!("resource=\"{resource}\"");
        let deferred = |found: &Samples| found.sum("postrider_attempts_deferred_total", &[&label]);
        let before = deferred(&Samples::scrape(&api));
        machine.fails(call, error);
        let events: Vec<String> = (0..EVENTS).map(|_| api.send(&path, &[], b"{}")).collect();
        Samples::once(&api, "they were tried again and again", |found| {
            deferred(found) >= before + DEFERRED_MIN
        });
        let queue = api.get("/v1/queue").data(200);
        let shortages = queue["node_shortages"].as_array().unwrap();
        assert!(shortages.iter().any(|found| found["resource"] == resource), "{shortages:?}");
        assert_eq!(queue["items"][0]["pending"], EVENTS, "{error}");
        machine.recovers();
        check_unharmed(&api, &destination, &events);
        assert_eq!(api.delete(&format!("/v1/destinations/{destination}")).status, 204);
    }
    assert_eq!(sink.count(), lacking.len() * EVENTS, "nothing came twice");
}

#[test]
fn a_test_delivery_says_what_the_machine_lacks() {
    let machine = Machine::new();
    let (sink, gateway) = (Sink::start(), machine.site.start());
    let api = gateway.api();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    machine.fails("socket", Errno::MFILE);
    let report = api.post(&format!("/v1/destinations/{destination}/test"), &json!({})).data(200);
    assert_eq!(report["outcome"], "cancelled", "{report}");
    let said = report["error_message"].as_str().unwrap_or_default();
    assert!(said.contains("no file descriptor left"), "{report}");
}

/// Whoever asks for a receiver's consent must not be told that the receiver failed.
#[test]
fn a_receiver_that_cannot_be_asked_for_its_consent_is_not_said_to_have_failed() {
    let machine = Machine::new();
    let (sink, gateway) = (Sink::start(), machine.site.start());
    let api = gateway.api();
    sink.always("/in", Reply::status(200).header("webhook-allowed-origin", "*"));
    let agreed = api.destination(&sink.url("/in"), &json!({ "handshake": true }));
    machine.fails("socket", Errno::MFILE);
    let handshake = |id: &str| api.post(&format!("/v1/destinations/{id}/handshake"), &json!({}));
    let refused = handshake(&agreed);
    assert_eq!(refused.code(503), "node_resources");
    assert!(refused.headers.get("retry-after").is_some(), "{refused}");
    let path = format!("/v1/destinations/{agreed}");
    assert_eq!(api.get(&path).data(200)["status"], "active", "it has agreed before");
    let unasked = api.destination(&sink.url("/in"), &json!({ "handshake": true }));
    let shown = api.get(&format!("/v1/destinations/{unasked}")).data(200);
    let said = shown["disabled_reason"].as_str().unwrap_or_default();
    assert!(said.contains("was not asked") && said.contains("no file descriptor left"), "{shown}");
    machine.recovers();
    assert_eq!(handshake(&unasked).data(200)["status"], "active");
}

#[test]
fn deliveries_go_on_by_themselves_once_there_are_descriptors_again() {
    let site = Site::new();
    let (sink, mut gateway) = (Sink::start(), site.start());
    let api = gateway.api();
    let (_, path) = api.source();
    // Each attempt needs a connection, and so a descriptor, of its own.
    sink.always("/in", Reply::status(200).header("connection", "close"));
    let destination = api.destination(&sink.url("/in"), &settings());
    // Opened before there are none: others cannot be taken meanwhile.
    let mut sender = Client::connect(site.address()).unwrap();
    let mut send = || {
        let answer = sender.exchange(&request("POST", &path, &[], b"{}")).unwrap();
        answer.data(202)["id"].as_str().unwrap().to_owned()
    };
    let first = send();
    sink.wait_for("/in", 1);
    api.event_once(&first, "delivered");
    let pid = Pid::from_raw(gateway.id().cast_signed());
    let most = getrlimit(Resource::Nofile).maximum;
    let usual = prlimit(pid, Resource::Nofile, Rlimit { current: Some(3), maximum: most }).unwrap();
    let events: Vec<String> = (0..EVENTS).map(|_| send()).collect();
    wait_until("some could not begin", || gateway.err().contains("an attempt could not begin").then_some(()));
    prlimit(pid, Resource::Nofile, usual).unwrap();
    check_unharmed(&api, &destination, &events);
    assert!(gateway.is_running(), "{}", gateway.err());
}
