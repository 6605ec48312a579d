//! The same markers, looked for where a gateway hands things on: a database of its own and its dump, spans, the file of
//! dead letters, the stream.

use super::planted::{ADMIN_KEY, Garden, around, ask_for_everything, misplace, site, tend};
use super::witness::Witness;
use crate::rig::{Api, Sink};
use postrider_postgres::testing::Server;
use serde_json::json;
use std::process::Command;
use std::thread;

/// Something that may be seen, so that it shows where was looked.
const SEEN: &str = "a-payload-that-may-be-seen";

/// A dump in plain SQL. Bytes are in hexadecimal there.
fn dump(url: &str) -> String {
    let dumped = Command::new("pg_dump").arg(url).output().expect("pg_dump comes with PostgreSQL");
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    String::from_utf8(dumped.stdout).expect("a dump is text")
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// All that a stream told, once it has ended.
fn read_stream(api: &Api) -> thread::JoinHandle<String> {
    let (mut stream, open) = api.stream("?account_id=all", None);
    thread::spawn(move || {
        let mut told = format!("{open:?}");
        while let Some(frame) = stream.next_if_any() {
            told.push_str(&format!("{frame:?}\n"));
        }
        told
    })
}

/// Spans are handed on before the gateway ends.
fn spans(collector: &Sink) -> String {
    let bodies = collector.arrivals().into_iter().flat_map(|request| request.body);
    String::from_utf8_lossy(&bodies.collect::<Vec<u8>>()).into_owned()
}

#[test]
fn no_secret_is_in_a_dump_in_spans_in_the_dead_letter_file_or_in_the_stream() {
    let (sink, collector, url) = (Sink::start(), Sink::start(), Server::shared().database());
    let flags =
        ["--database-url", &url, "--otlp-endpoint", &collector.url(""), "--dead-letter-file", "dead.jsonl"];
    let site = site().with(&flags);
    let gateway = site.start();
    let witness = Witness::new(Api { address: site.address(), key: ADMIN_KEY.to_owned() });
    let stream = read_stream(&witness.api);
    let garden = Garden::grown(&witness, &sink);
    ask_for_everything(&witness, &garden);
    tend(&witness, &garden);
    misplace(&witness, &garden);
    let seen = json!({ "event_type": "a.b", "payload": SEEN, "external_event_id": SEEN });
    let seen = witness.post("/v1/outbound-events", &seen).data(201)["id"].as_str().unwrap().to_owned();
    witness.api.event_once(&seen, "dead_letter");
    let dumped = dump(&url);
    let ended = gateway.stop();
    let places = [
        ("the dump", dumped),
        ("the spans", spans(&collector)),
        ("the dead letter file", std::fs::read_to_string(site.path().join("dead.jsonl")).unwrap()),
        ("the stream", stream.join().unwrap()),
        ("the log", format!("{}{}", ended.out, ended.err)),
    ];
    for marker in garden.markers.iter().chain(&garden.tokens) {
        assert_eq!(
            witness.answers_with(marker).iter().filter(|_| !garden.tokens.contains(marker)).count(),
            0
        );
        for (place, text) in &places {
            for form in [marker.clone(), hex(marker)] {
                assert!(!text.contains(&form), "{marker} is in {place}: {}", around(text, &form));
            }
        }
    }
    for (place, text) in &places[..4] {
        let there = [&seen, SEEN, &hex(SEEN)].into_iter().any(|known| text.contains(known));
        assert!(there, "{place} was not looked at: {text}");
    }
}
