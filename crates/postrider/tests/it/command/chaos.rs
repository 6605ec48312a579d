//! `chaos`: a receiver that misbehaves, and what it says it saw.

use crate::rig::client::{Client, request};
use crate::rig::{Answer, Desk, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

struct Chaos {
    child: Child,
    address: SocketAddr,
}

impl Chaos {
    fn start(desk: &Desk) -> Self {
        let mut child = desk.start(&["chaos", "--listen", "127.0.0.1:0", "--seed", "1", "--secret", SECRET]);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        Chaos { address: address.parse().unwrap(), child }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn post(&self, path: &str) -> Answer {
        let mut client = Client::connect(self.address).unwrap();
        client.write(&request("POST", path, &[], b"{}")).unwrap();
        client.answer().unwrap()
    }

    /// Everything until the connection ends; an error is how a reset is seen.
    fn raw(&self, path: &str) -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.write_all(&request("POST", path, &[], b"{}"))?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map(|_| bytes)
    }

    fn report(&self, path: &str) -> Value {
        let mut client = Client::connect(self.address).unwrap();
        client.write(&request("GET", "/report", &[], b"")).unwrap();
        let report: Value = serde_json::from_slice(&client.answer().unwrap().body).unwrap();
        report["paths"][path].clone()
    }
}

impl Drop for Chaos {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_url_says_how_it_is_answered() {
    let desk = Desk::new();
    let chaos = Chaos::start(&desk);
    assert_eq!(chaos.post("/a").status, 200);
    assert_eq!(chaos.post("/a?status=503").status, 503);
    let throttled = chaos.post("/throttle?retry_after=inf");
    assert_eq!((throttled.status, throttled.headers.get("retry-after")), (429, Some("inf")));
    assert_eq!(chaos.post("/redirect?to=/b").headers.get("location"), Some("/b"));
    assert_eq!(chaos.post("/huge?bytes=300000").body.len(), 300_000);
    let wrong = chaos.post("/a?stauts=1");
    assert_eq!(wrong.status, 400);
    assert!(String::from_utf8_lossy(&wrong.body).contains("allowed are status"));
    assert!(chaos.raw("/garbage").unwrap().starts_with(b"\0\x1b[2Jthis is no HTTP"));
    assert_eq!(chaos.raw("/reset").unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);

    let mut dripping = Client::connect(chaos.address).unwrap();
    dripping.write(&request("POST", "/drip", &[], b"{}")).unwrap();
    let mut hanging = Client::connect(chaos.address).unwrap();
    hanging.write(&request("POST", "/hang?max_in_flight=1", &[], b"{}")).unwrap();
    wait_until("one hangs", || (chaos.report("/hang")["in_flight"] == 1).then_some(()));
    assert_eq!(chaos.post("/hang?max_in_flight=1").status, 429, "a limit of its own");
    drop((dripping, hanging));
    wait_until("both have hung up", || {
        let left = |path| chaos.report(path)["answers"]["hung up"] == 1;
        (left("/hang") && left("/drip")).then_some(())
    });
    let half: Vec<u16> = (0..40).map(|_| chaos.post("/half?status=500&percent=50").status).collect();
    assert!(half.contains(&200) && half.contains(&500), "{half:?}");
}

#[test]
fn a_receiver_mixes_its_answers_takes_its_time_and_has_a_limit_of_its_own() {
    let desk = Desk::new();
    let chaos = Chaos::start(&desk);
    let began = Instant::now();
    assert_eq!(chaos.post("/slow?delay_ms=700").status, 200);
    assert!((700..6000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());

    // Over the limit of a second, and a second later not any more.
    let at_once: Vec<u16> = (0..4).map(|_| chaos.post("/limited?per_second=2").status).collect();
    let (taken, refused): (Vec<u16>, Vec<u16>) = at_once.iter().partition(|status| **status == 200);
    assert!(taken.len() >= 2 && refused.iter().all(|status| *status == 429), "{at_once:?}");
    assert!(
        !refused.is_empty() || began.elapsed().as_secs() >= 2,
        "four in a moment are too many: {at_once:?}"
    );
    // What is refused counts as well, so only who waits gets through.
    let last = Instant::now();
    wait_until("a second has passed", || (last.elapsed() > Duration::from_millis(1100)).then_some(()));
    assert_eq!(chaos.post("/limited?per_second=2").status, 200);

    // By thirds 200, 500 and 200 after 6 s. Each on a connection of its own, all at once.
    let visits: Vec<_> = (0..30)
        .map(|_| {
            let address = chaos.address;
            std::thread::spawn(move || {
                let began = Instant::now();
                let mut client = Client::connect(address).unwrap();
                client.write(&request("POST", "/mix", &[], b"{}")).unwrap();
                (client.answer().unwrap().status, began.elapsed() >= Duration::from_secs(6))
            })
        })
        .collect();
    let seen: Vec<(u16, bool)> = visits.into_iter().map(|visit| visit.join().unwrap()).collect();
    for kind in [(200, false), (500, false), (200, true)] {
        assert!(seen.iter().filter(|one| **one == kind).count() >= 3, "{kind:?} in {seen:?}");
    }
    let told = chaos.report("/mix");
    let of = |status: u16| seen.iter().filter(|(seen, _)| *seen == status).count();
    assert_eq!(
        (&told["answers"]["200"], &told["answers"]["500"]),
        (&json!(of(200)), &json!(of(500))),
        "{told}"
    );
}

#[test]
fn the_report_tells_what_a_gateway_did() {
    let desk = Desk::new();
    let chaos = Chaos::start(&desk);
    let api = desk.gateway.api();
    let settings = json!({ "signing_secret": SECRET, "retry_policy": { "delays_seconds": [0.01, 0.01] }, "ordering": "strict" });
    api.destination(&chaos.url("/shop"), &settings);
    let failing =
        json!({ "retry_policy": { "delays_seconds": [0.001, 0.001] }, "circuit": { "threshold": 10_000 } });
    api.destination(&chaos.url("/fail/other"), &failing);
    let (_, path) = api.source();
    let events: Vec<String> = (0..5).map(|_| api.send(&path, &[], b"{}")).collect();
    events.iter().for_each(|event| drop(api.event_once(event, "dead_letter")));
    let seen = wait_until("all came", || {
        let seen = chaos.report("/shop");
        (seen["delivered"] == 5).then_some(seen)
    });
    for (field, count) in [("requests", 5), ("in_flight_max", 1), ("duplicates", 0), ("misordered", 0)] {
        assert_eq!(seen[field], count, "{field} of {seen}");
    }
    assert_eq!(seen["signatures"], json!({ "valid": 5, "invalid": 0 }));
    let failed = chaos.report("/fail/other");
    assert_eq!(failed["requests"], 15, "{failed}");
    assert_eq!((&failed["retries"], &failed["signatures"]["invalid"]), (&json!(10), &json!(15)), "{failed}");
}
