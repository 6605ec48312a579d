//! What events at the size limit cost, from many clients at once: their bodies, and not more with every one that came before.

use super::DESCRIPTORS_MORE_MAX;
use crate::rig::api::text;
use crate::rig::client::{Client, head, request};
use crate::rig::usage::Usage;
use crate::rig::wire::Message;
use crate::rig::{Answer, Api, Gateway, Site, wait_until, wait_while_growing};
use postrider_core::limits::{BODIES_BYTES_MAX, BODIES_PER_ACCOUNT_BYTES_MAX};
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

/// Of each account: many more than one may have at once, and by three of them more than there may be in all.
const STALLING: usize = 40;
/// The first, and enough others that not all of them share its part of the room.
const ACCOUNTS: usize = 5;
/// For the answers, the store and the allocator.
const BESIDE_BYTES_MAX: usize = 64 << 20;

#[test]
fn bodies_that_stall_are_refused_once_they_have_taken_their_room() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let paths: Vec<String> = (0..ACCOUNTS).map(|_| account(&api).source().1).collect();
    let first_bytes = peak_bytes(&gateway);
    let stall = |path: &String| -> Vec<Client> {
        (0..STALLING).filter_map(|_| stalled(site.address(), path)).collect()
    };
    let mut stalling = stall(&paths[0]);
    assert_eq!(stalling.len(), BODIES_PER_ACCOUNT_BYTES_MAX / BODY_BYTES, "one account has its part");
    stalling.extend(paths[1..].iter().flat_map(stall));
    let (most, one) = (BODIES_BYTES_MAX / BODY_BYTES, BODIES_PER_ACCOUNT_BYTES_MAX / BODY_BYTES);
    assert!((2 * one..=most).contains(&stalling.len()), "{} have room", stalling.len());
    let grown = peak_bytes(&gateway) - first_bytes;
    println!("{} bodies and {} MB", stalling.len(), grown >> 20);
    assert!(grown < (BODIES_BYTES_MAX + BESIDE_BYTES_MAX) as u64, "it grew by {} MB", grown >> 20);
    for path in &paths {
        api.send(path, &[], &[b'x'; 1000]);
    }
    drop(stalling);
    wait_until("there is room again", || large(&api, &paths[0]));
}

/// An account of its own.
fn account(api: &Api) -> Api {
    let made = api.with_key("").post("/v1/accounts", &json!({ "name": "one of many" })).data(201);
    api.with_key(&text(&made["api_key"]["key"]))
}

/// A client that has sent all of a body but its last byte, if there was room for it.
fn stalled(address: SocketAddr, path: &str) -> Option<Client> {
    let mut client = Client::connect(address).unwrap();
    let bytes = BODY_BYTES.to_string();
    let head = head("POST", path, &[("content-length", bytes.as_str()), ("expect", "100-continue")]);
    client.write(&[&head[..], b"\r\n"].concat()).unwrap();
    let answer = client.answer().unwrap();
    if answer.status == 100 {
        client.write(&vec![b'x'; BODY_BYTES - 1]).unwrap();
        return Some(client);
    }
    check_refused(&answer);
    None
}

fn check_refused(answer: &Answer) {
    assert_eq!((answer.code(503).as_str(), &answer.json()["limit"]), ("overloaded", &json!("bodies")));
    assert!(answer.headers.get("retry-after").is_some(), "{answer}");
}

fn large(api: &Api, path: &str) -> Option<()> {
    let answer = api.raw(&request("POST", path, &[], &vec![b'x'; BODY_BYTES]));
    (answer.status == 202).then_some(())
}
