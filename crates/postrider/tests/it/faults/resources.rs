//! What hostile receivers and clients cost a gateway: memory and descriptors stay within a bound, and come back.

use crate::rig::client::{Client, head, request};
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Site, loopback, wait_until};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const EVENTS: usize = 60;
const CONCURRENCY: usize = 20;
/// Of 20 answers 64 KiB each are kept, and as much again is read and written. The rest is for the store's caches and the
/// allocator.
const GROWTH_BYTES_MAX: u64 = 32 << 20;
/// A connection each, and what the store opens meanwhile.
const DESCRIPTORS_MORE_MAX: usize = CONCURRENCY + 30;

/// The most that was seen, over what there was at first.
struct Watch {
    bytes: u64,
    descriptors: usize,
    first_bytes: u64,
    first_descriptors: usize,
}

impl Watch {
    fn new(gateway: &Gateway) -> Self {
        let (bytes, descriptors) = (gateway.resident_bytes(), gateway.descriptors());
        Watch { bytes, descriptors, first_bytes: bytes, first_descriptors: descriptors }
    }

    fn look(&mut self, gateway: &Gateway) {
        self.bytes = self.bytes.max(gateway.resident_bytes());
        self.descriptors = self.descriptors.max(gateway.descriptors());
    }

    fn check(&self, descriptors_more_max: usize) {
        let (grown, more) = (self.bytes - self.first_bytes, self.descriptors - self.first_descriptors);
        println!("{} kB and {more} descriptors more", grown / 1024);
        assert!(grown < GROWTH_BYTES_MAX, "it grew by {} MB", grown >> 20);
        assert!(more < descriptors_more_max, "it had {more} descriptors more");
    }
}

type Script = dyn Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// A receiver that treats every connection so, until it is closed.
fn receiver(script: Arc<Script>) -> SocketAddr {
    let listener = TcpListener::bind(loopback::fresh()).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let script = Arc::clone(&script);
            thread::spawn(move || script(&mut stream));
        }
    });
    address
}

/// Sends events to such a receiver, and watches the gateway until all of them are delivered or given up on.
fn check_receiver(
    body: &[u8],
    script: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) {
    let (site, url) = (Site::new(), format!("http://{}/", receiver(Arc::new(script))));
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(
        &url,
        &json!({
            "timeout_seconds": 1, "max_concurrency": CONCURRENCY, "adaptive": false,
            "circuit": { "threshold": 10_000 }, "retry_policy": { "delays_seconds": [1], "max_attempts": 1 },
        }),
    );
    let mut watch = Watch::new(&gateway);
    (0..EVENTS).for_each(|_| drop(api.send(&path, &[], body)));
    let settled = |status: &str| {
        let found = api.get(&format!("/v1/events?status={status}&limit=200")).data(200);
        found["items"].as_array().map_or(0, Vec::len)
    };
    wait_until("all are delivered or given up on", || {
        watch.look(&gateway);
        (settled("delivered") + settled("dead_letter") == EVENTS).then_some(())
    });
    watch.check(DESCRIPTORS_MORE_MAX);
    assert!(gateway.is_running() && !gateway.err().contains("panicked"), "{}", gateway.err());
}

fn take_request(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0; 4096]).map(drop)
}

/// The same bytes for as long as they are taken.
fn without_end(stream: &mut TcpStream, begin: &[u8], bytes: &[u8]) -> std::io::Result<()> {
    take_request(stream)?;
    stream.write_all(begin)?;
    loop {
        stream.write_all(bytes)?;
    }
}

#[test]
fn endless_bodies_cost_no_memory() {
    check_receiver(b"{}", |stream| without_end(stream, b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 65_536]));
}

#[test]
fn endless_headers_cost_no_memory() {
    let line = format!("X-Long: {}\r\n", "x".repeat(1000)).repeat(60);
    check_receiver(b"{}", move |stream| without_end(stream, b"HTTP/1.1 200 OK\r\n", line.as_bytes()));
}

#[test]
fn a_gzip_bomb_costs_no_memory() {
    // 100 MB of zeros in 100 kB.
    let packed =
        Command::new("sh").args(["-c", "head -c 100000000 /dev/zero | gzip -9"]).output().unwrap().stdout;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    );
    check_receiver(b"{}", move |stream| {
        take_request(stream)?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(&packed)
    });
}

#[test]
fn answers_that_drip_cost_no_descriptors() {
    check_receiver(b"{}", |stream| {
        take_request(stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")?;
        loop {
            stream.write_all(b"x")?;
            let_pass(Duration::from_millis(20));
        }
    });
}

#[test]
fn receivers_that_reset_cost_no_descriptors() {
    // A connection that is closed with something unread in it is reset.
    check_receiver(&[b'x'; 100_000], |stream| stream.read_exact(&mut [0; 10]));
}

/// Connections that begin to send a head or a body, byte by byte.
const CLIENTS: usize = 300;

#[test]
fn clients_that_drip_cost_their_connections_and_nothing_else() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let mut watch = Watch::new(&gateway);
    let mut body = head("POST", &path, &[("content-length", "5000000")]);
    body.extend(b"\r\n{");
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::connect(site.address()).unwrap()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.write(if number % 2 == 0 { &body } else { b"GET /healthz HTTP/1.1\r\nx-drip: " }).unwrap();
    }
    for _ in 0..20 {
        clients.iter_mut().for_each(|client| client.write(b"x").unwrap());
        watch.look(&gateway);
        let asked_at = Instant::now();
        let mut other = Client::connect(site.address()).unwrap();
        assert_eq!(other.exchange(&request("GET", "/healthz", &[], b"")).unwrap().status, 200);
        assert!(asked_at.elapsed() < Duration::from_secs(1), "others wait for {:?}", asked_at.elapsed());
    }
    watch.check(CLIENTS + 30);
    // At first there may have been some of calls that have ended since.
    let more = watch.descriptors - watch.first_descriptors;
    assert!(more >= CLIENTS - 10, "they were served: {more} descriptors more");
    drop(clients);
    wait_until("their descriptors are back", || {
        (gateway.descriptors() < watch.first_descriptors + 30).then_some(())
    });
}
