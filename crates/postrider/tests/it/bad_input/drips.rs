//! Clients that drip: a byte now and then, and no end. Each way in has its deadline, by the clock on the wall.

use crate::rig::Site;
use crate::rig::client::head;
use crate::rig::wait::let_pass;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// As the gateway has them: for a head, and for the body behind it.
const HEADER_DEADLINE: Duration = Duration::from_secs(15);
const BODY_DEADLINE: Duration = Duration::from_secs(30);
/// Between two bytes, far shorter than any deadline.
const DROP: Duration = Duration::from_millis(200);
/// For a busy machine.
const LATE_MAX: Duration = Duration::from_secs(6);

/// Begins so and goes on byte by byte until it is hung up on; gives what was answered, and after how long.
fn drip(address: SocketAddr, begin: &[u8]) -> (String, Duration) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(BODY_DEADLINE + 2 * LATE_MAX)).unwrap();
    let began = Instant::now();
    stream.write_all(begin).unwrap();
    let mut drops = stream.try_clone().unwrap();
    thread::spawn(move || {
        while drops.write_all(b"x").is_ok() {
            let_pass(DROP);
        }
    });
    let mut answer = Vec::new();
    // A connection that is closed with something unread in it is reset, which is an end too.
    let _ = stream.read_to_end(&mut answer);
    (String::from_utf8_lossy(&answer).into_owned(), began.elapsed())
}

#[test]
fn heads_and_bodies_that_drip_in_are_hung_up_on_at_their_deadlines() {
    let site = Site::new();
    let gateway = site.start();
    let (api, address) = (gateway.api(), site.address());
    let (_, path) = api.source();
    let bearer = format!("Bearer {}", api.key);
    let part_of_a_head = |path: &str| [head("POST", path, &[]), b"x-drip: ".to_vec()].concat();
    let part_of_a_body = |path: &str| {
        let headers = [("authorization", bearer.as_str()), ("content-length", "1000")];
        [head("POST", path, &headers), b"\r\n".to_vec()].concat()
    };
    // Events come in by a door of their own, and all other calls by a server behind it.
    let drips = [&path, "/v1/outbound-events"]
        .map(|path| [(part_of_a_head(path), HEADER_DEADLINE), (part_of_a_body(path), BODY_DEADLINE)]);
    thread::scope(|scope| {
        for (begin, deadline) in drips.into_iter().flatten() {
            scope.spawn(move || {
                let (answer, took) = drip(address, &begin);
                let name = String::from_utf8_lossy(&begin).into_owned();
                println!("{took:?} with {:?}: {name:?}", answer.lines().next());
                assert!(took + DROP >= deadline && took < deadline + LATE_MAX, "{took:?}: {name}");
                assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}: {name}");
            });
        }
    });
    assert_eq!(api.get("/v1/events").data(200)["total"], 0, "none of it is an event");
}
