//! Large events for receivers that take the connection and never read: no more of them is in flight than the budgets of
//! bytes allow, the rest waits untried, and small events go on.

use super::receiver;
use crate::rig::usage::Usage;
use crate::rig::{Api, Site, wait_until};
use crate::watching::Samples;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

const BODY_BYTES: usize = 4_900_000;
const DESTINATIONS: usize = 4;
/// Of each destination: more than any budget has room for.
const EVENTS: usize = 10;
/// What the gateway is started with.
const NODE_BYTES: u64 = 16 << 20;
const DESTINATION_BYTES: u64 = 8 << 20;
/// A body and the write buffers, by which a budget may be passed.
const ONE_BYTES: u64 = 6 << 20;
/// What is in flight, what is kept to be sent, what comes in, and the store.
const GROWTH_BYTES_MAX: u64 = 128 << 20;
/// Connections to receivers, idle ones of this test to the gateway, and what the store opens.
const DESCRIPTORS_MORE_MAX: usize = 60;
const _: () = assert!(GROWTH_BYTES_MAX < (DESTINATIONS * EVENTS * BODY_BYTES) as u64);

/// Reads nothing until it is told to.
#[derive(Default)]
pub(super) struct Unread {
    reads: AtomicBool,
    told: Condvar,
    lock: Mutex<()>,
}

impl Unread {
    pub(super) fn serve(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |_: &mut ()| !self.reads.load(Ordering::SeqCst);
        drop(self.told.wait_while(guard, waits).unwrap_or_else(PoisonError::into_inner));
        answer_all(stream)
    }

    fn read_from_now_on(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.reads.store(true, Ordering::SeqCst);
        self.told.notify_all();
    }
}

/// Answers each request once its body is here: all have the same length.
fn answer_all(stream: &mut TcpStream) -> std::io::Result<()> {
    let (mut bytes, mut left) = (vec![0; 65_536], None);
    let mut head = Vec::new();
    loop {
        let read = stream.read(&mut bytes)?;
        if read == 0 {
            return Ok(());
        }
        let body = match left {
            Some(left) => left - read,
            None => {
                head.extend_from_slice(&bytes[..read]);
                let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
                let of_body = head.len() - end - 4;
                head.clear();
                BODY_BYTES - of_body
            }
        };
        left = Some(body).filter(|left| *left > 0);
        if left.is_none() {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
        }
    }
}

#[test]
fn bodies_that_no_receiver_reads_wait_for_bytes_and_all_arrive_later() {
    let flags = [
        "--in-flight-bytes-max=16MiB",
        "--in-flight-bytes-per-account-max=16MiB",
        "--in-flight-bytes-per-destination-max=8MiB",
    ];
    let site = Site::new().with(&flags);
    let gateway = site.start();
    let (api, all) = (gateway.api(), (DESTINATIONS * EVENTS) as f64);
    let unread = Arc::new(Unread::default());
    let paths: Vec<String> = (0..DESTINATIONS).map(|_| source_to(&api, &unread)).collect();
    let ((), usage) = Usage::during(&gateway, || {
        for path in paths.iter().cycle().take(DESTINATIONS * EVENTS) {
            api.send(path, &[], &vec![b'x'; BODY_BYTES]);
        }
        wait_until("as many are in flight as may be", || {
            (in_flight_bytes(&api) >= NODE_BYTES as f64).then_some(())
        });
    });
    let found = Samples::scrape(&api);
    assert!(in_flight_bytes(&api) < (NODE_BYTES + ONE_BYTES) as f64, "{}", in_flight_bytes(&api));
    let queue = api.get("/v1/queue").data(200);
    for item in queue["items"].as_array().unwrap() {
        assert_eq!(item["waiting_for"], "bytes_in_flight", "{item}");
        let most = (DESTINATION_BYTES + ONE_BYTES) / BODY_BYTES as u64;
        assert!(item["in_flight"].as_u64().unwrap() <= most, "{item}");
    }
    assert!(found.sum("postrider_slots_used", &[]) <= 4.0, "no slot is taken by what waits");
    usage.check_within(GROWTH_BYTES_MAX, DESCRIPTORS_MORE_MAX);
    unread.read_from_now_on();
    wait_until("all are delivered", || {
        (Samples::scrape(&api).sum("postrider_delivered_total", &[]) >= all).then_some(())
    });
    let found = Samples::scrape(&api);
    let attempts =
        (found.sum("postrider_attempts_total", &[]), found.sum("postrider_attempts_total", &["success"]));
    assert_eq!(attempts, (all, all), "none was tried in vain");
    wait_until("its bytes are given back", || (in_flight_bytes(&api) == 0.0).then_some(()));
}

/// The path of a source whose events go to a receiver of their own.
fn source_to(api: &Api, unread: &Arc<Unread>) -> String {
    let unread = Arc::clone(unread);
    let url = format!("http://{}/", receiver(Arc::new(move |stream: &mut TcpStream| unread.serve(stream))));
    let (source, path) = api.source();
    let settings = json!({
        "name": "unread", "url": url, "max_concurrency": 20, "adaptive": false, "timeout_seconds": 120,
    });
    let destination = api.make("/v1/destinations", &settings);
    api.make("/v1/routes", &json!({ "source_id": source, "destination_id": destination }));
    path
}

fn in_flight_bytes(api: &Api) -> f64 {
    Samples::scrape(api).sum("postrider_in_flight_bytes", &[])
}
