//! What events at the size limit cost, from many clients at once: their bodies, and not more with every one that came before.

use super::DESCRIPTORS_MORE_MAX;
use crate::rig::client::{Client, request};
use crate::rig::usage::Usage;
use crate::rig::wire::Message;
use crate::rig::{Gateway, Site, wait_until, wait_while_growing};
use postrider_torture::rig::listener::{Receiver, listen};
use serde_json::json;
use std::fs::read_to_string;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BODY_BYTES: usize = 5_000_000;
const CLIENTS: usize = 16;
const ROUNDS: usize = 8;
/// A body is read, committed, kept to be sent, and sent, and the allocator keeps some: five times what all clients post at
/// once, which is less than they post in all.
const GROWTH_BYTES_MAX: usize = 5 * CLIENTS * BODY_BYTES;
const _: () = assert!(GROWTH_BYTES_MAX < ROUNDS * CLIENTS * BODY_BYTES);

/// A receiver that counts and keeps nothing: what is measured would be nothing beside it.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Receiver for Counter {
    fn connected(&self) -> bool {
        true
    }

    fn request(&self, message: Message, mut stream: &TcpStream) -> std::io::Result<bool> {
        assert_eq!(message.body.len(), BODY_BYTES);
        self.0.fetch_add(1, Ordering::Relaxed);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
        Ok(true)
    }
}

#[test]
fn bodies_at_the_limit_from_many_clients_cost_what_is_in_flight() {
    let counter = Arc::new(Counter::default());
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let url = format!("http://{}/", listen(&counter));
    api.destination(&url, &json!({ "max_concurrency": 4, "adaptive": false }));
    let first_bytes = gateway.resident_bytes();
    let arrived = || counter.0.load(Ordering::Relaxed);
    let ((), usage) = Usage::during(&gateway, || {
        post_all(site.address(), &path);
        wait_while_growing("all have arrived", arrived, || (arrived() >= CLIENTS * ROUNDS).then_some(()));
    });
    let grown = peak_bytes(&gateway) - first_bytes;
    println!("{} MB and {} descriptors more", grown >> 20, usage.descriptors_more());
    assert!(grown < GROWTH_BYTES_MAX as u64, "it grew by {} MB", grown >> 20);
    assert!(usage.descriptors_more() < CLIENTS + DESCRIPTORS_MORE_MAX);
}

/// Each client posts one after the other until it is accepted: a store that is slow for a moment refuses.
fn post_all(address: SocketAddr, path: &str) {
    let bytes = request("POST", path, &[], &vec![b'x'; BODY_BYTES]);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let post = || Client::connect(address).and_then(|mut client| client.exchange(&bytes));
                let accepted = || post().is_ok_and(|answer| answer.status == 202).then_some(());
                (0..ROUNDS).for_each(|_| wait_until("it is accepted", accepted));
            });
        }
    });
}

/// The most memory that it has had, as the kernel saw it: what is looked at from outside now and then may miss it.
fn peak_bytes(gateway: &Gateway) -> u64 {
    let status = read_to_string(format!("/proc/{}/status", gateway.id())).expect("Linux tells of a process");
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    kilobytes.and_then(|text| text.parse::<u64>().ok()).expect("it has a peak") * 1024
}
