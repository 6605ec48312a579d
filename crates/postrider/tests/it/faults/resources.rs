//! What hostile receivers and clients cost a gateway: memory and descriptors stay within a bound, and come back.

mod bodies;
mod names;
mod shortage;
mod small_memory;
mod unread;

use crate::rig::certificate::self_signed;
use crate::rig::client::{Client, head, request};
use crate::rig::usage::Usage;
use crate::rig::wait::let_pass;
use crate::rig::{Api, Site, loopback, wait_until};
use crate::watching::Samples;
use rcgen::{CertificateParams, date_time_ymd};
use rustix::net::sockopt::set_socket_linger;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, Stream};

const EVENTS: usize = 60;
const CONCURRENCY: usize = 20;
/// A connection each, and what the store opens meanwhile.
const DESCRIPTORS_MORE_MAX: usize = CONCURRENCY + 30;
/// Of those that are over: connections that are kept for the next attempt, and what the store has opened since.
const DESCRIPTORS_LEFT_MAX: usize = 8;
/// Longer than an attempt may take.
const HANG: Duration = Duration::from_secs(3);

type Script = dyn Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// A receiver that treats every connection so, until it is closed.
fn receiver(script: Arc<Script>) -> SocketAddr {
    receiver_at(TcpListener::bind(loopback::fresh()).unwrap(), script)
}

fn receiver_at(listener: TcpListener, script: Arc<Script>) -> SocketAddr {
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
    check_until(is_settled, "http", body, script);
}

/// The same by this scheme, until something else.
fn check_until(
    is_over: fn(&Api) -> bool,
    scheme: &str,
    body: &[u8],
    script: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) {
    let url = format!("{scheme}://{}/", receiver(Arc::new(script)));
    check_cost(&Site::new(), &url, &json!({}), body, is_over);
}

/// Sends events to this URL, with more settings of its destination, and watches the gateway until it is over.
fn check_cost(site: &Site, url: &str, settings: &Value, body: &[u8], is_over: impl Fn(&Api) -> bool) {
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let mut all = json!({
        "timeout_seconds": 1, "max_concurrency": CONCURRENCY, "adaptive": false,
        "circuit": { "threshold": 10_000 }, "retry_policy": { "delays_seconds": [1], "max_attempts": 1 },
    });
    let more = settings.as_object().expect("settings are an object").clone();
    all.as_object_mut().expect("it is one").extend(more);
    api.destination(url, &all);
    let ((), usage) = Usage::during(&gateway, || {
        (0..EVENTS).for_each(|_| drop(api.send(&path, &[], body)));
        wait_until("it is over", || is_over(&api).then_some(()));
    });
    usage.check(DESCRIPTORS_MORE_MAX);
    wait_until("its descriptors are back", || {
        (gateway.descriptors() <= usage.first_descriptors + DESCRIPTORS_LEFT_MAX).then_some(())
    });
    assert!(gateway.is_running() && !gateway.err().contains("panicked"), "{}", gateway.err());
}

/// All are delivered or given up on.
fn is_settled(api: &Api) -> bool {
    let settled = |status: &str| {
        let found = api.get(&format!("/v1/events?status={status}&limit=200")).data(200);
        found["items"].as_array().map_or(0, Vec::len)
    };
    settled("delivered") + settled("dead_letter") == EVENTS
}

/// All are given up on, and this is why.
fn given_up_for(why: &str) -> impl Fn(&Api) -> bool {
    move |api| {
        let letters = || api.get("/v1/dead-letters?limit=200").data(200)["items"].as_array().unwrap().clone();
        let error = |letter: &Value| letter["last_error"].as_str().unwrap_or_default().to_owned();
        is_settled(api) && {
            let errors: Vec<String> = letters().iter().map(error).collect();
            assert!(errors.len() == EVENTS && errors.iter().all(|error| error.contains(why)), "{errors:#?}");
            true
        }
    }
}

fn is_disabled(api: &Api) -> bool {
    api.get("/v1/destinations").data(200)[0]["status"] == "disabled"
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

#[test]
fn receivers_that_reset_after_the_body_cost_no_descriptors() {
    // After the request, inside the answer, and behind it, on a connection that would be used again.
    let answers = [
        "",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    ];
    let turn = AtomicUsize::new(0);
    check_receiver(b"{}", move |stream| {
        answer(stream, answers[turn.fetch_add(1, Ordering::Relaxed) % 3].as_bytes())?;
        Ok(set_socket_linger(stream, Some(Duration::ZERO))?)
    });
}

/// Takes a request and answers it with these bytes.
fn answer(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    take_request(stream)?;
    stream.write_all(bytes)
}

#[test]
fn receivers_that_never_read_cost_no_more() {
    check_receiver(&[b'x'; 100_000], |_| {
        let_pass(HANG);
        Ok(())
    });
}

#[test]
fn receivers_that_never_answer_cost_no_more() {
    check_receiver(b"{}", |stream| {
        take_request(stream)?;
        let_pass(HANG);
        Ok(())
    });
}

#[test]
fn headers_that_drip_cost_no_descriptors() {
    check_receiver(b"{}", |stream| {
        answer(stream, b"HTTP/1.1 200 OK\r\nx-drip: ")?;
        loop {
            stream.write_all(b"x")?;
            let_pass(Duration::from_millis(20));
        }
    });
}

#[test]
fn garbage_costs_no_more() {
    check_receiver(b"{}", |stream| answer(stream, b"\x16\x03\x01 no answer at all\r\n\r\n"));
}

#[test]
fn answers_of_two_lengths_cost_no_more() {
    check_receiver(b"{}", |stream| {
        answer(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 7\r\n\r\n{}and more")
    });
}

#[test]
fn redirects_cost_no_more() {
    check_receiver(b"{}", |stream| {
        answer(stream, b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n")
    });
}

#[test]
fn receivers_that_ask_for_time_cost_no_more() {
    check_receiver(b"{}", |stream| {
        answer(stream, b"HTTP/1.1 429 Slow Down\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n")
    });
}

#[test]
fn receivers_that_are_gone_cost_no_more() {
    check_until(is_disabled, "http", b"{}", |stream| {
        answer(stream, b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n")
    });
}

#[test]
fn certificates_that_nobody_trusts_cost_no_more() {
    let (config, _) = self_signed(&CertificateParams::new(["elsewhere.test".to_owned()]).unwrap());
    check_until(is_settled, "https", b"{}", shake_hands(config));
}

#[test]
fn certificates_that_have_expired_cost_no_more() {
    // Of the right host and trusted: nothing is wrong with it but its time.
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let (config, trusted) = self_signed(&params);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/", receiver_at(listener, Arc::new(shake_hands(config))).port());
    check_cost(&Site::new(), &url, &json!({ "ca_pem": trusted }), b"{}", given_up_for("expired"));
}

/// Shows a certificate, and reads what comes for as long as it does.
fn shake_hands(config: Arc<ServerConfig>) -> impl Fn(&mut TcpStream) -> std::io::Result<()> {
    move |stream| {
        let mut connection = ServerConnection::new(Arc::clone(&config)).map_err(std::io::Error::other)?;
        Stream::new(&mut connection, stream).read(&mut [0; 4096]).map(drop)
    }
}

/// Two errors in a row open the circuit, and the answers behind them close it again.
const ERRORS: usize = 2;
const ANSWERS: usize = 8;

#[test]
fn receivers_that_flap_cost_no_more() {
    let turn = AtomicUsize::new(0);
    let flaps = move |stream: &mut TcpStream| {
        let is_error = turn.fetch_add(1, Ordering::Relaxed) % ANSWERS < ERRORS;
        let status = if is_error { 500 } else { 200 };
        answer(stream, format!("HTTP/1.1 {status} Flaps\r\ncontent-length: 0\r\n\r\n").as_bytes())
    };
    let settings = json!({
        "circuit": { "threshold": ERRORS, "cooldown_seconds": 1, "cooldown_max_seconds": 1 },
        "retry_policy": { "delays_seconds": [0.1], "max_attempts": 100, "jitter": "none" },
    });
    let url = format!("http://{}/", receiver(Arc::new(flaps)));
    check_cost(&Site::new(), &url, &settings, b"{}", has_flapped);
}

/// All are delivered, and the circuit opened and closed again more than once meanwhile.
fn has_flapped(api: &Api) -> bool {
    is_settled(api) && {
        let seen = Samples::scrape(api);
        let to = |state: &str| seen.sum("postrider_circuit_transitions_total", &[&format!("to=\"{state}\"")]);
        let (opened, closed) = (to("open"), to("closed"));
        println!("opened {opened} times, closed {closed} times");
        assert!(opened > 1.0 && closed > 1.0, "opened {opened} times, closed {closed} times");
        true
    }
}

/// Connections that begin to send a head or a body, byte by byte.
const CLIENTS: usize = 300;

#[test]
fn clients_that_drip_cost_their_connections_and_nothing_else() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    // All of them together have room, so that each is read.
    let mut body = head("POST", &path, &[("content-length", "500000")]);
    body.extend(b"\r\n{");
    let (clients, usage) = Usage::during(&gateway, || drip(site.address(), &body));
    usage.check(CLIENTS + 30);
    // At first there may have been some of calls that have ended since.
    let more = usage.descriptors_more();
    assert!(more >= CLIENTS - 10, "they were served: {more} descriptors more");
    drop(clients);
    wait_until("their descriptors are back", || {
        (gateway.descriptors() < usage.first_descriptors + 30).then_some(())
    });
}

/// Half of them a head and half of them this body, while others are served.
fn drip(address: SocketAddr, body: &[u8]) -> Vec<Client> {
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::connect(address).unwrap()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.write(if number % 2 == 0 { body } else { b"GET /healthz HTTP/1.1\r\nx-drip: " }).unwrap();
    }
    for _ in 0..20 {
        clients.iter_mut().for_each(|client| client.write(b"x").unwrap());
        let asked_at = Instant::now();
        let mut other = Client::connect(address).unwrap();
        assert_eq!(other.exchange(&request("GET", "/healthz", &[], b"")).unwrap().status, 200);
        assert!(asked_at.elapsed() < Duration::from_secs(1), "others wait for {:?}", asked_at.elapsed());
    }
    clients
}
