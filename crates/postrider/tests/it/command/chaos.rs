//! `chaos`: a receiver that misbehaves, and what it says it saw.

use crate::rig::client::{Client, request};
use crate::rig::{Answer, Desk, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;

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
