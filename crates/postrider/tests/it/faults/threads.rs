//! A thread that the gateway cannot live without panics, or hangs: the process ends, or says that it hangs. It never goes on
//! as if it were well.

use crate::cluster::sharing;
use crate::rig::{Api, Site, preload, wait_until};
use postrider_postgres::testing::Server;
use postrider_torture::rig::client::{Client, request};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than any thread may give no sign of life.
const AHEAD_SECONDS: i64 = 600;
/// As `threads.c` calls it.
const NOTHING: i32 = 0;
const PANIC: i32 = 1;
const HANG: i32 = 2;
/// Of `struct order`.
const THREAD_AT: u64 = 4;
const THREAD_BYTES: usize = 28;
const AHEAD_AT: u64 = 32;
const HANGS_AT: u64 = 40;
const ORDER_BYTES: usize = 48;
/// Longer than `/healthz` looks, shorter than a person waits for one that hangs.
const ANSWERS_WITHIN: Duration = Duration::from_secs(4);
/// The log of a segment is moved once it has grown by a megabyte.
const LARGE_BODY_BYTES: usize = 512 * 1024;

/// The threads of one gateway, and what befalls them.
struct Threads(PathBuf);

impl Threads {
    fn of(site: Site) -> (Self, Site) {
        let file = site.path().join("threads");
        std::fs::write(&file, [0; ORDER_BYTES]).expect("the directory is ours");
        let site = site.variable("LD_PRELOAD", preload::library("faults/threads.c"));
        (Threads(file.clone()), site.variable("THREADS_FILE", file))
    }

    fn befall(&self, thread: &str, what: i32) {
        let mut name = [0; THREAD_BYTES];
        name[..thread.len()].copy_from_slice(thread.as_bytes());
        self.write(THREAD_AT, &name);
        self.write(0, &what.to_ne_bytes());
    }

    /// The clock that only goes forward makes a leap.
    fn leap(&self) {
        self.write(AHEAD_AT, &AHEAD_SECONDS.to_ne_bytes());
    }

    /// Whether the one that is to hang does.
    fn hangs(&self) -> bool {
        let mut hangs = [0; 4];
        File::open(&self.0).and_then(|file| file.read_exact_at(&mut hangs, HANGS_AT)).expect("it was made");
        i32::from_ne_bytes(hangs) == 1
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).open(&self.0).expect("it was made");
        // In place: it is mapped into the memory of the gateway.
        file.write_all_at(bytes, at).expect("a few bytes fit");
    }
}

/// One call, if the gateway answers in time.
fn call(api: &Api, method: &str, path: &str, body: &[u8]) -> Option<Value> {
    let bearer = format!("Bearer {}", api.key);
    let mut client = Client::connect(api.address, ANSWERS_WITHIN).ok()?;
    let answer = client.exchange(&request(method, path, &[("authorization", &bearer)], body)).ok()?;
    serde_json::from_slice(&answer.body).ok()
}

/// Makes work for each of the store's threads.
fn make_work(api: &Api, path: &str) {
    call(api, "POST", path, &[b'x'; LARGE_BODY_BYTES]);
    // Two threads share the first: each gets some.
    for list in ["/v1/replays", "/v1/replays", "/v1/replays", "/v1/events"] {
        call(api, "GET", list, b"");
    }
}

/// A thread, and whether it waits for work.
type Thread = (&'static str, bool);

/// The gateway ends when this thread panics, and says why.
fn ends_when_it_panics(site: Site, (thread, waits): Thread) {
    let (threads, site) = Threads::of(site);
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    threads.befall(thread, PANIC);
    let mut planted = 1;
    wait_until(&format!("{thread} has panicked and the gateway ends"), || {
        // It may have met a connection that was just ending, which it costs alone.
        let contained = gateway.err().matches("panicked; the gateway continues").count();
        if contained == planted {
            planted += 1;
            threads.befall(thread, PANIC);
        }
        if waits {
            make_work(&api, &path);
        }
        (!gateway.is_running()).then_some(())
    });
    let ended = gateway.wait_for_panic();
    assert_eq!(ended.code, Some(101), "{thread}: {}", ended.err);
    let last = ended.err.lines().last().unwrap_or_default();
    let is_told = last.starts_with("postrider: stopped because thread '") && last.contains("panicked at");
    assert!(is_told && ended.err.contains("the gateway exits"), "{thread}: {}", ended.err);
}

/// `/healthz` says so while this thread hangs, and neither before nor after.
fn is_seen_to_hang(site: Site, (thread, waits): Thread, told_as: &str) {
    let (threads, site) = Threads::of(site);
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let health = || call(&api, "GET", "/healthz", b"");
    threads.befall(thread, HANG);
    wait_until(&format!("{thread} hangs"), || {
        if waits {
            make_work(&api, &path);
        }
        threads.hangs().then_some(())
    });
    // Of two workers one may be the one that hangs.
    let now = wait_until("another thread answers", health);
    assert_eq!(now["status"], "ok", "{thread} hangs since a moment");
    threads.leap();
    let health_once = |status: &str| {
        wait_until(&format!("{thread}: {status}"), || health().filter(|health| health["status"] == *status))
    };
    let reason = health_once("stalled")["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.starts_with(told_as)), "{thread}: {reason}");
    threads.befall(thread, NOTHING);
    health_once("ok");
}

const OF_THE_EMBEDDED_STORE: [Thread; 7] = [
    ("worker-0", false),
    ("sqlite-checkpoi", true),
    ("sqlite-reader-0", true),
    ("sqlite-reader-1", true),
    ("sqlite-reader-2", true),
    ("dispatch", false),
    ("postrider", false),
];

#[test]
fn a_panic_of_any_thread_of_the_embedded_store_ends_the_gateway() {
    for thread in OF_THE_EMBEDDED_STORE {
        ends_when_it_panics(Site::new(), thread);
    }
}

#[test]
fn a_panic_of_any_thread_of_a_node_ends_it() {
    let server = Server::shared();
    for thread in ["postgres", "worker-0", "dispatch", "postrider"] {
        ends_when_it_panics(sharing(Site::new(), &server.database()), (thread, false));
    }
}

#[test]
fn a_thread_that_hangs_is_told_by_healthz() {
    for (thread, told_as) in [
        (("dispatch", false), "dispatch"),
        (("worker-0", false), "worker-0"),
        (("sqlite-checkpoi", true), "sqlite-checkpoint"),
        (("sqlite-reader-0", true), "sqlite-reader-0"),
        (("sqlite-reader-1", true), "sqlite-reader-1"),
        (("sqlite-reader-2", true), "sqlite-reader-2"),
    ] {
        is_seen_to_hang(Site::new().with(&["--workers", "2"]), thread, told_as);
    }
}

#[test]
fn a_lease_that_is_not_looked_after_is_told_by_healthz() {
    let server = Server::shared();
    let site = sharing(Site::new().with(&["--workers", "2"]), &server.database());
    is_seen_to_hang(site, ("postgres", false), "lease");
}

/// It accepts connections: while it hangs a probe has no answer, so whoever probes needs no word of it.
#[test]
fn a_main_thread_that_hangs_answers_no_probe() {
    let (threads, site) = Threads::of(Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let healthy = || call(&api, "GET", "/healthz", b"").filter(|health| health["status"] == "ok");
    wait_until("it is well", healthy);
    threads.befall("postrider", HANG);
    wait_until("the main thread hangs", || threads.hangs().then_some(()));
    assert_eq!(call(&api, "GET", "/healthz", b""), None);
    threads.befall("postrider", NOTHING);
    wait_until("it is well again", healthy);
}

/// What the other nodes do is heard by a loop of its own, which here waits for a table that somebody keeps locked.
#[test]
fn a_node_that_hears_no_more_of_the_others_is_told_by_healthz() {
    let server = Server::shared();
    let url = server.database();
    let (threads, site) = Threads::of(sharing(Site::new(), &url));
    let gateway = site.start();
    let api = gateway.api();
    let other = sharing(Site::new(), &url).start();
    wait_until("the other has shards", || {
        let cluster = call(&api, "GET", "/v1/cluster", b"")?;
        let nodes = cluster["data"]["nodes"].as_array()?.clone();
        let owns = |node: &Value| node["shards"].as_array().is_some_and(|shards| !shards.is_empty());
        (nodes.len() == 2 && nodes.iter().all(owns)).then_some(())
    });
    // They come to this one, which looks then what replays there are.
    let held = server.hold(&url, "BEGIN; LOCK TABLE replays IN ACCESS EXCLUSIVE MODE;");
    other.kill();
    let waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'replays'::regclass AND NOT granted";
    wait_until("it waits for the table", || (server.ask(&url, waiting) != "0").then_some(()));
    threads.leap();
    let health =
        |status: &str| call(&api, "GET", "/healthz", b"").filter(|health| health["status"] == *status);
    let told = wait_until("it is told", || health("stalled"));
    assert!(told["reason"].as_str().is_some_and(|reason| reason.starts_with("cluster-events")), "{told}");
    drop(held);
    wait_until("it is well again", || health("ok"));
}

#[test]
fn a_process_that_was_frozen_as_a_whole_does_not_hang() {
    let (threads, site) = Threads::of(Site::new());
    let gateway = site.start();
    threads.leap();
    let health = call(&gateway.api(), "GET", "/healthz", b"").expect("it answers");
    assert_eq!(health["status"], "ok", "{health}");
}
