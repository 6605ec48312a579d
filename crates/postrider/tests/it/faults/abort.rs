//! A process that ends at a named moment of a commit: while it writes, before its sync, after it and before the answer.

use crate::rig::client::{Client, request};
use crate::rig::{Api, Gateway, Reply, Sink, Site, preload, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The first and a later write of a commit, its sync, and the moment after it.
const MOMENTS: [&str; 4] = ["write 1", "write 2", "before-sync 1", "after-sync 1"];

struct Doomed {
    site: Site,
    gateway: Gateway,
    api: Api,
    path: String,
}

impl Doomed {
    fn start() -> Self {
        let site = Site::new();
        let order = site.path().join("order");
        let site =
            site.variable("LD_PRELOAD", preload::library("faults/abort.c")).variable("ABORT_ORDER", order);
        let gateway = site.start();
        let api = gateway.api();
        let (_, path) = api.source();
        Doomed { site, gateway, api, path }
    }

    /// From now on this moment is not survived.
    fn order(&self, moment: &str) {
        // In one step: the file is looked for at every write.
        let (made, order) = (self.site.path().join("made"), self.site.path().join("order"));
        std::fs::write(&made, moment).unwrap();
        std::fs::rename(made, order).unwrap();
    }

    /// Waits until it has ended there, and starts it again.
    fn begin_anew(&mut self, moment: &str) {
        wait_until(&format!("it ends at {moment}"), || (!self.gateway.is_running()).then_some(()));
        self.gateway = self.site.start();
    }

    /// Posts an event that may get no answer.
    fn post(&self, key: &str) -> Option<u16> {
        let bytes = request("POST", &self.path, &[("idempotency-key", key)], key.as_bytes());
        let answer = Client::connect(self.site.address()).and_then(|mut client| client.exchange(&bytes));
        answer.ok().map(|answer| answer.status)
    }

    fn destination(&self, sink: &Sink, path: &str, settings: &Value) -> String {
        self.api.destination(&sink.url(path), settings)
    }
}

/// The ids of the events with this body that came to a path.
fn ids(sink: &Sink, path: &str, body: &str) -> BTreeSet<String> {
    let arrivals = sink.arrivals_at(path);
    let of_it = arrivals.iter().filter(|arrival| arrival.body == body.as_bytes());
    of_it.map(|arrival| arrival.headers.get("webhook-id").unwrap().to_owned()).collect()
}

#[test]
fn an_event_whose_commit_was_cut_off_anywhere_is_whole_or_not_there() {
    let (sink, mut doomed) = (Sink::start(), Doomed::start());
    doomed.destination(&sink, "/first", &json!({}));
    doomed.destination(&sink, "/second", &json!({}));
    for moment in MOMENTS {
        doomed.order(moment);
        assert_eq!(doomed.post(moment), None, "it ended before it could answer, at {moment}");
        doomed.begin_anew(moment);
        assert_eq!(doomed.post(moment), Some(202), "its sender asks again, after {moment}");
        let arrived = |path: &str| ids(&sink, path, moment);
        wait_until("it is everywhere", || {
            ["/first", "/second"].iter().all(|path| !arrived(path).is_empty()).then_some(())
        });
        assert_eq!(arrived("/first"), arrived("/second"), "one event, at {moment}");
        assert_eq!(arrived("/first").len(), 1, "under one id, at {moment}");
    }
}

/// Sends one event whose outcome is not written down because the process ends; gives it after a start.
fn check_outcome(moment: &str, status: u16, end: &str) -> (Value, Sink, Doomed) {
    let (sink, mut doomed) = (Sink::start(), Doomed::start());
    sink.always("/in", Reply { status, ..Reply::held() });
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 1, "jitter": "none" });
    doomed.destination(&sink, "/in", &json!({ "retry_policy": policy, "timeout_seconds": 30 }));
    let id = doomed.api.send(&doomed.path, &[], b"{}");
    sink.wait_for("/in", 1);
    doomed.order(moment);
    sink.release();
    doomed.begin_anew(moment);
    let shown = doomed.api.event_once(&id, end);
    assert!((1..=2).contains(&sink.count()), "sent again at most once, at {moment}: {}", sink.count());
    let attempts = shown["attempts"].as_array().unwrap().len();
    assert_eq!(attempts, 1, "one attempt is on record, at {moment}: {shown}");
    (shown, sink, doomed)
}

#[test]
fn an_outcome_whose_commit_was_cut_off_anywhere_is_made_again_or_known() {
    for moment in MOMENTS {
        let (_, sink, _doomed) = check_outcome(moment, 200, "delivered");
        let again = sink.count() - 1;
        println!("{moment}: sent again {again} times");
    }
}

#[test]
fn a_dead_letter_whose_commit_was_cut_off_anywhere_is_one_dead_letter() {
    for moment in MOMENTS {
        let (shown, _sink, doomed) = check_outcome(moment, 500, "dead_letter");
        let letters = doomed.api.get("/v1/dead-letters").data(200);
        let letters = letters["items"].as_array().unwrap();
        assert_eq!(letters.len(), 1, "at {moment}: {letters:?}");
        assert_eq!(letters[0]["event_id"], shown["event"]["id"]);
    }
}

#[test]
fn an_ordered_line_whose_commit_was_cut_off_anywhere_stays_in_order_one_at_a_time() {
    for moment in MOMENTS {
        let (sink, mut doomed) = (Sink::start(), Doomed::start());
        sink.always("/line", Reply::held());
        let policy = json!({ "delays_seconds": [0.1], "max_attempts": 20, "jitter": "none" });
        let settings = json!({ "ordering": "strict", "timeout_seconds": 1, "retry_policy": policy });
        doomed.destination(&sink, "/line", &settings);
        let send = |number: usize| doomed.api.send(&doomed.path, &[], number.to_string().as_bytes());
        let ids: Vec<String> = (0..4).map(send).collect();
        sink.wait_for("/line", 1);
        doomed.order(moment);
        sink.release();
        doomed.begin_anew(moment);
        ids.iter().for_each(|id| drop(doomed.api.event_once(id, "delivered")));
        let mut bodies: Vec<Vec<u8>> = sink.arrivals().into_iter().map(|arrival| arrival.body).collect();
        bodies.dedup();
        assert_eq!(bodies, [b"0", b"1", b"2", b"3"], "each again only before the next, at {moment}");
        assert_eq!(sink.in_flight_max("/line"), 1, "at {moment}");
    }
}
