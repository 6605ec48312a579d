//! Large events for a receiver that never reads, on a gateway that has little memory: it is not killed, and others go on.

use super::receiver;
use super::unread::Unread;
use crate::cluster::sharing;
use crate::rig::{Api, Gateway, Reply, Sink, Site, preload, wait_until};
use crate::watching::Samples;
use postrider_postgres::testing::Server;
use serde_json::json;
use std::fs::{create_dir, read_to_string, remove_dir, write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const MEMORY_BYTES: u64 = 256 << 20;
const BODY_BYTES: usize = 4_900_000;
/// More than twice the memory.
const LARGE: usize = 120;
const SMALL: usize = 50;
const _: () = assert!((LARGE * BODY_BYTES) as u64 > 2 * MEMORY_BYTES);

/// A control group of its own, if this machine lets one be made.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("postrider-it-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let own = read_to_string("/proc/self/cgroup").ok()?;
        let place = |line: &str| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let (mount, limit) = match controllers {
                "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                "" => ("/sys/fs/cgroup", "memory.max"),
                _ => return None,
            };
            let group = PathBuf::from(mount).join(path.trim_start_matches('/')).join(&name);
            create_dir(&group).ok()?;
            let group = Group(group);
            // Where the new groups are elsewhere this is a directory like any other.
            group.0.join("cgroup.procs").exists().then_some(())?;
            write(group.0.join(limit), MEMORY_BYTES.to_string()).ok().map(|()| group)
        };
        own.lines().find_map(place)
    }

    fn hold(&self, site: Site) -> Site {
        let site = site.variable("LD_PRELOAD", preload::library("faults/resources/small_memory.c"));
        site.variable("GROUP_PROCS", self.0.join("cgroup.procs"))
    }

    fn kills(&self) -> u64 {
        let told = ["memory.oom_control", "memory.events"].map(|file| read_to_string(self.0.join(file)));
        let lines = told.iter().flatten().flat_map(|text| text.lines());
        lines.filter_map(|line| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok()).sum()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = remove_dir(&self.0);
    }
}

/// How long each of so many events took from its post to its arrival, in milliseconds, the shortest first.
fn latencies(api: &Api, path: &str, sink: &Sink) -> Vec<u128> {
    let mut took: Vec<u128> = (0..SMALL)
        .map(|_| {
            let (before, begun) = (sink.count(), Instant::now());
            api.send(path, &[], b"{}");
            wait_until("a small event arrives", || (sink.count() > before).then_some(()));
            begun.elapsed().as_millis()
        })
        .collect();
    took.sort_unstable();
    took
}

fn check(site: Site) {
    let group = Group::make();
    let site = match &group {
        Some(group) => group.hold(site),
        None => site,
    };
    let mut gateway = site.start();
    let (api, sink) = (gateway.api(), Sink::start());
    sink.always("/in", Reply::status(200));
    let unread = Arc::new(Unread::default());
    let script = Arc::clone(&unread);
    let url = format!("http://{}/", receiver(Arc::new(move |stream: &mut TcpStream| script.serve(stream))));
    let large = source_to(&api, &url);
    let small = source_to(&api, &sink.url("/in"));
    let alone = latencies(&api, &small, &sink);
    for _ in 0..LARGE {
        wait_until("a large event is taken", || taken(&api, &large));
    }
    wait_until("as many bytes are in flight as may be", || {
        let found = Samples::scrape(&api);
        let (now, most) =
            (found.sum("postrider_in_flight_bytes", &[]), found.sum("postrider_in_flight_bytes_max", &[]));
        (now > most / 4.0).then_some(())
    });
    let beside = latencies(&api, &small, &sink);
    println!(
        "{} MB resident; small events took {} ms alone, {} ms beside (the longest)",
        gateway.resident_bytes() >> 20,
        alone.last().expect("there are some"),
        beside.last().expect("there are some"),
    );
    assert!(gateway.is_running(), "{}", gateway.err());
    match &group {
        Some(group) => assert_eq!(group.kills(), 0),
        None => check_resident(&gateway),
    }
}

/// Where no group can be made, what it takes is held against what a group would give it.
fn check_resident(gateway: &Gateway) {
    assert!(gateway.resident_bytes() < MEMORY_BYTES, "{} MB", gateway.resident_bytes() >> 20);
}

fn taken(api: &Api, path: &str) -> Option<()> {
    let request = crate::rig::client::request("POST", path, &[], &vec![b'x'; BODY_BYTES]);
    (api.raw(&request).status == 202).then_some(())
}

/// The path of a source whose events go to this URL alone, as many at once as there are slots.
fn source_to(api: &Api, url: &str) -> String {
    let (source, path) = api.source();
    let settings = json!({
        "name": "one of two", "url": url, "max_concurrency": 512, "adaptive": false, "timeout_seconds": 120,
    });
    let destination = api.make("/v1/destinations", &settings);
    api.make("/v1/routes", &json!({ "source_id": source, "destination_id": destination }));
    path
}

#[test]
fn a_receiver_that_never_reads_does_not_fill_a_small_memory() {
    check(Site::new());
}

#[test]
fn a_receiver_that_never_reads_does_not_fill_the_small_memory_of_a_node() {
    check(sharing(Site::new(), &Server::shared().database()));
}
