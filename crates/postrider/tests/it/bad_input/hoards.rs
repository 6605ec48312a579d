//! Strangers who send much and finish nothing: what the gateway holds for them is bounded, and counted no longer than they stay.

use crate::rig::client::{Client, head};
use crate::rig::{Gateway, Site, wait_until};
use std::net::SocketAddr;

/// As many as there is room for.
const STRANGERS: usize = 4000;
/// What each sends of a head or of a body, a little short of the end.
const SENT_BYTES: usize = 60_000;
/// Of a build that is not optimised, with all that it holds beside: what a connection has under way takes tens of kilobytes
/// there. On a busy machine 343 MB were seen.
const RESIDENT_BYTES_MAX: u64 = 400 * 1000 * 1000;

/// Connections that have sent this and wait. Some may be hung up on meanwhile.
fn hoard(address: SocketAddr, beginnings: &[Vec<u8>]) -> Vec<Client> {
    let client = |number: usize| {
        let mut client = Client::connect(address).ok()?;
        let _ = client.write(&beginnings[number % beginnings.len()]);
        let _ = client.write(&vec![b'x'; SENT_BYTES]);
        Some(client)
    };
    (0..STRANGERS).filter_map(client).collect()
}

fn check(beginnings: impl Fn(&str) -> Vec<Vec<u8>>) {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let before = gateway.resident_bytes();
    let strangers = hoard(site.address(), &beginnings(&path));
    assert_eq!(api.get("/healthz").status, 200);
    assert_eq!(api.get("/v1/sources").status, 200);
    api.send(&path, &[], &[b'x'; 3000]);
    let peak = gateway.peak_bytes();
    println!("{} MB before, {} MB with {} strangers", before / 1_000_000, peak / 1_000_000, strangers.len());
    assert!(peak < RESIDENT_BYTES_MAX, "{} MB", peak / 1_000_000);
    drop(strangers);
    wait_until("all of it is given back", || (held(&gateway) == 0).then_some(()));
}

/// All that is counted of requests and answers.
fn held(gateway: &Gateway) -> u64 {
    let metrics = String::from_utf8(gateway.api().get("/metrics").body).unwrap();
    let of = metrics.lines().filter(|line| line.starts_with("postrider_request_memory_bytes{"));
    of.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

#[test]
fn heads_that_do_not_end_fill_no_memory() {
    check(|path| {
        ["/v1/sources", path].map(|path| [head("POST", path, &[]), b"x: ".to_vec()].concat()).to_vec()
    });
}

#[test]
fn small_bodies_that_do_not_end_fill_no_memory() {
    check(|path| {
        let length = (SENT_BYTES + 1).to_string();
        let headers = [("content-length", length.as_str()), ("content-type", "text/plain")];
        [path, "/login", "/v1/sources"]
            .map(|path| [head("POST", path, &headers), b"\r\n".to_vec()].concat())
            .to_vec()
    });
}
