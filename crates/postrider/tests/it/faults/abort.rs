//! A process that ends at a named moment of a commit. On the embedded store: while it writes, before its sync, after it and
//! before the answer. On PostgreSQL: before the server hears of the COMMIT, while it is made, and before its answer is heard.

use crate::cluster::{self, sharing};
use crate::ingest::fan_out;
use crate::rig::client::{Client, request};
use crate::rig::proxy::{Commits, Proxy};
use crate::rig::{Api, Gateway, Reply, Sink, Site, preload, wait_until};
use postrider_postgres::testing::Server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Of files of the embedded store, as `abort.c` calls it.
    OfFiles(&'static str),
    /// Of a batch on PostgreSQL.
    OfCommit(Commits),
}

/// The first and a later write of a commit, its sync, and the moment after it; and the same as a server sees them.
const MOMENTS: [Moment; 7] = [
    Moment::OfFiles("write 1"),
    Moment::OfFiles("write 2"),
    Moment::OfFiles("before-sync 1"),
    Moment::OfFiles("after-sync 1"),
    Moment::OfCommit(Commits::LostBefore),
    Moment::OfCommit(Commits::LostDuring),
    Moment::OfCommit(Commits::LostAfter),
];

/// A thousand destinations take their time, so those between others are left out.
const OF_A_FAN_OUT: [Moment; 4] = [MOMENTS[1], MOMENTS[3], MOMENTS[4], MOMENTS[6]];

/// The next life takes over when it is over. Nobody else could, so it may be short.
const LEASE_SECONDS: &str = "3";

/// A gateway that will end at its moment.
struct Doomed {
    moment: Moment,
    site: Site,
    gateway: Gateway,
    api: Api,
    /// To its database, if it has one.
    way: Option<Arc<Proxy>>,
}

impl Doomed {
    fn start(moment: Moment) -> Self {
        Doomed::start_at(Site::new(), moment)
    }

    fn start_at(site: Site, moment: Moment) -> Self {
        let (site, way) = match moment {
            Moment::OfFiles(_) => {
                let order = site.path().join("order");
                let library = preload::library("faults/abort.c");
                (site.variable("LD_PRELOAD", library).variable("ABORT_ORDER", order), None)
            }
            Moment::OfCommit(_) => {
                let server = Server::shared();
                let way = Proxy::start(&server.socket());
                let site =
                    sharing(site, &way.url(&server.database())).with(&["--lease-seconds", LEASE_SECONDS]);
                (site, Some(Arc::new(way)))
            }
        };
        let gateway = site.start();
        let api = if way.is_some() { cluster::api(&gateway) } else { gateway.api() };
        Doomed { moment, site, gateway, api, way }
    }

    /// From now on the moment is not survived.
    fn order(&self) {
        match self.moment {
            Moment::OfFiles(moment) => {
                // In one step: the file is looked for at every write.
                let (made, order) = (self.site.path().join("made"), self.site.path().join("order"));
                std::fs::write(&made, moment).unwrap();
                std::fs::rename(made, order).unwrap();
            }
            Moment::OfCommit(commits) => self.order_at(commits),
        }
    }

    /// With its COMMIT all that it says and hears stands still, and it is killed there.
    fn order_at(&self, commits: Commits) {
        let way = Arc::clone(self.way.as_ref().expect("it has a database"));
        let pid = Pid::from_raw(self.gateway.id() as i32).expect("a process has a number");
        way.halt_at_batch(commits);
        thread::spawn(move || {
            wait_until("its batch is at the moment", || (way.broken() > 0).then_some(()));
            kill_process(pid, Signal::KILL).expect("nobody has waited for its end yet");
        });
    }

    /// Waits until it has ended there, and starts it again.
    fn begin_anew(&mut self) {
        let moment = self.moment;
        wait_until(&format!("it ends at {moment:?}"), || (!self.gateway.is_running()).then_some(()));
        if let Some(way) = &self.way {
            way.commits(Commits::Pass);
            way.restore();
        }
        self.gateway = self.site.start();
    }

    /// Posts an event that may get no answer.
    fn post(&self, path: &str, key: &str) -> Option<u16> {
        let bytes = request("POST", path, &[("idempotency-key", key)], key.as_bytes());
        let answer = Client::connect(self.site.address()).and_then(|mut client| client.exchange(&bytes));
        answer.ok().map(|answer| answer.status)
    }

    /// Posts it again until it is taken: a busy machine may make a node refuse.
    fn post_again(&self, path: &str, key: &str) {
        wait_until(&format!("its sender is heard, after {:?}", self.moment), || {
            (self.post(path, key) == Some(202)).then_some(())
        });
    }

    /// How many events there must be after the end of a commit of one; nothing where both are right.
    fn stored(&self) -> Option<u64> {
        match self.moment {
            Moment::OfFiles("write 1") | Moment::OfCommit(Commits::LostBefore) => Some(0),
            Moment::OfFiles("after-sync 1") | Moment::OfCommit(Commits::LostAfter) => Some(1),
            _ => None,
        }
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
    for moment in MOMENTS {
        let (sink, mut doomed) = (Sink::start(), Doomed::start(moment));
        let (_, path) = doomed.api.source();
        for at in ["/first", "/second"] {
            doomed.api.destination(&sink.url(at), &json!({}));
        }
        doomed.order();
        assert_eq!(doomed.post(&path, "once"), None, "it ended before it could answer, at {moment:?}");
        doomed.begin_anew();
        let stored = doomed.api.get("/v1/events").data(200)["items"].as_array().unwrap().len() as u64;
        assert!(doomed.stored().is_none_or(|expected| stored == expected), "{stored} at {moment:?}");
        doomed.post_again(&path, "once");
        let arrived = |path: &str| ids(&sink, path, "once");
        wait_until("it is everywhere", || {
            ["/first", "/second"].iter().all(|path| !arrived(path).is_empty()).then_some(())
        });
        assert_eq!(arrived("/first"), arrived("/second"), "one event, at {moment:?}");
        assert_eq!(arrived("/first").len(), 1, "under one id, at {moment:?}");
    }
}

#[test]
fn a_fan_out_whose_commit_was_cut_off_anywhere_is_whole_or_not_there() {
    for moment in OF_A_FAN_OUT {
        let sink = Sink::start();
        let mut doomed = Doomed::start_at(fan_out::site(&sink, fan_out::DESTINATIONS), moment);
        doomed.order();
        assert_eq!(doomed.post("/ingress", "all"), None, "it ended before it could answer, at {moment:?}");
        doomed.begin_anew();
        let stored = fan_out::check_whole(&doomed.api, &BTreeSet::new()).len() as u64;
        assert!(doomed.stored().is_none_or(|expected| stored == expected), "{stored} at {moment:?}");
        doomed.post_again("/ingress", "all");
        assert_eq!(fan_out::check_whole(&doomed.api, &BTreeSet::new()).len(), 1, "once, at {moment:?}");
    }
}

/// Sends one event whose outcome is not written down because the process ends; gives it after a start.
fn check_outcome(moment: Moment, status: u16, end: &str) -> (Value, Sink, Doomed) {
    let (sink, mut doomed) = (Sink::start(), Doomed::start(moment));
    let (_, path) = doomed.api.source();
    sink.always("/in", Reply { status, ..Reply::held() });
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 1, "jitter": "none" });
    doomed.api.destination(&sink.url("/in"), &json!({ "retry_policy": policy, "timeout_seconds": 30 }));
    let id = doomed.api.send(&path, &[], b"{}");
    sink.wait_for("/in", 1);
    doomed.order();
    sink.release();
    doomed.begin_anew();
    let shown = doomed.api.event_once(&id, end);
    assert!((1..=2).contains(&sink.count()), "sent again at most once, at {moment:?}: {}", sink.count());
    let attempts = shown["attempts"].as_array().unwrap().len();
    assert_eq!(attempts, 1, "one attempt is on record, at {moment:?}: {shown}");
    (shown, sink, doomed)
}

#[test]
fn an_outcome_whose_commit_was_cut_off_anywhere_is_made_again_or_known() {
    for moment in MOMENTS {
        let (_, sink, doomed) = check_outcome(moment, 200, "delivered");
        let again = sink.count() as u64 - 1;
        println!("{moment:?}: sent again {again} times");
        // What was not on record is sent again, and what was is not.
        assert!(doomed.stored().is_none_or(|recorded| again == 1 - recorded), "{again} at {moment:?}");
    }
}

#[test]
fn a_dead_letter_whose_commit_was_cut_off_anywhere_is_one_dead_letter() {
    for moment in MOMENTS {
        let (shown, _sink, doomed) = check_outcome(moment, 500, "dead_letter");
        let letters = doomed.api.get("/v1/dead-letters").data(200);
        let letters = letters["items"].as_array().unwrap();
        assert_eq!(letters.len(), 1, "at {moment:?}: {letters:?}");
        assert_eq!(letters[0]["event_id"], shown["event"]["id"]);
    }
}

/// A receiver may work on a request for so long, and is left alone for as long after a start. Far longer than it takes to
/// cut a gateway off, and to see what it waits for after the start.
const TIMEOUT_SECONDS: u64 = 5;

/// Four events to a destination of these settings. The first is at the receiver when the commit of a fifth is cut off, and
/// still there after the start: all arrive, never two at once. Gives what arrived, repetitions left out.
fn one_at_a_time(moment: Moment, settings: &Value) -> Vec<Vec<u8>> {
    let (sink, mut doomed) = (Sink::start(), Doomed::start(moment));
    let (_, path) = doomed.api.source();
    sink.always("/line", Reply::held());
    let mut settings = settings.clone();
    settings["timeout_seconds"] = json!(TIMEOUT_SECONDS);
    settings["retry_policy"] = json!({ "delays_seconds": [0.1], "max_attempts": 20, "jitter": "none" });
    let destination = doomed.api.destination(&sink.url("/line"), &settings);
    let send = |number: usize| doomed.api.send(&path, &[], number.to_string().as_bytes());
    let sent: Vec<String> = (0..4).map(send).collect();
    sink.wait_for("/line", 1);
    doomed.order();
    assert_eq!(doomed.post(&path, "4"), None, "it ended before it could answer, at {moment:?}");
    doomed.begin_anew();
    wait_until("it waits for what may still be at the receiver, or does not", || {
        let shown = doomed.api.get(&format!("/v1/destinations/{destination}")).data(200);
        (shown["waiting_for"] == "unclean_stop" || sink.count() > 1).then_some(())
    });
    assert_eq!(sink.in_flight_max("/line"), 1, "right after the start, at {moment:?} with {settings}");
    sink.release();
    doomed.post_again(&path, "4");
    sent.iter().for_each(|id| drop(doomed.api.event_once(id, "delivered")));
    wait_until("the fifth arrives", || (!ids(&sink, "/line", "4").is_empty()).then_some(()));
    assert_eq!(sink.in_flight_max("/line"), 1, "at {moment:?} with {settings}");
    let mut bodies: Vec<Vec<u8>> = sink.arrivals().into_iter().map(|arrival| arrival.body).collect();
    bodies.dedup();
    bodies
}

/// The same at every moment, all of them at once: most of it is waiting.
fn one_at_a_time_anywhere(settings: &Value) -> Vec<(Moment, Vec<Vec<u8>>)> {
    thread::scope(|scope| {
        let runs = MOMENTS.map(|moment| (moment, scope.spawn(move || one_at_a_time(moment, settings))));
        runs.map(|(moment, run)| (moment, run.join().unwrap())).into()
    })
}

#[test]
fn an_ordered_line_whose_commit_was_cut_off_anywhere_stays_in_order_one_at_a_time() {
    for settings in
        [json!({ "ordering": "strict" }), json!({ "ordering": "by_key", "ordering_key": "\"same\"" })]
    {
        for (moment, bodies) in one_at_a_time_anywhere(&settings) {
            assert_eq!(
                bodies,
                [b"0", b"1", b"2", b"3", b"4"],
                "each again only before the next, at {moment:?}"
            );
        }
    }
}

#[test]
fn a_receiver_of_one_at_a_time_has_no_two_wherever_a_commit_was_cut_off() {
    one_at_a_time_anywhere(&json!({ "max_concurrency": 1 }));
}
