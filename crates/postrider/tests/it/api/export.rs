//! Dead letters as JSON lines.

use super::check_fields;
use super::dead_letters::{dead, hopeless};
use crate::rig::client::{Client, request};
use crate::rig::{Answer, Sink, Site, api::text, wait_until};
use serde_json::{Value, json};

const WAFORD: &str = "event_id payload destination retry_count last_error";

fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!((answer.status, answer.headers.get("content-type")), (200, Some("application/x-ndjson")));
    let text = std::str::from_utf8(&answer.body).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn an_export_has_the_lines_that_waford_writes() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 3);
    let bodies: [&[u8]; 4] = [b"{\n \"a\": 1\n}", b"plain \"text\"", b"\xff\xfe", b""];
    let events: Vec<String> = bodies.iter().map(|body| dead(&api, &path, "a.b", body)).collect();
    let exported = lines(&api.get("/v1/dead-letters/export"));
    assert_eq!(exported.len(), 4);
    let payloads = [json!({ "a": 1 }), json!("plain \"text\""), json!("//4="), json!("")];
    for ((line, event), payload) in exported.iter().rev().zip(&events).zip(&payloads) {
        check_fields(line, WAFORD);
        assert_eq!((&line["event_id"], &line["payload"]), (&json!(event), payload));
        assert_eq!((&line["destination"], &line["retry_count"]), (&json!(sink.url("/in")), &json!(2)));
        assert!(text(&line["last_error"]).contains("500"), "{line}");
    }
    let full = lines(&api.get("/v1/dead-letters/export?format=full&event_type=a.*"));
    assert_eq!(full.len(), 4);
    for line in &full {
        check_fields(
            line,
            &format!(
                "{WAFORD} payload_encoding delivery_id account_id destination_id destination_name event_type headers \
                 reason died_at attempts"
            ),
        );
        assert_eq!(line["attempts"].as_array().map(Vec::len), Some(3));
        assert_eq!((&line["reason"], &line["event_type"]), (&json!("attempts"), &json!("a.b")));
    }
    assert_eq!(lines(&api.get("/v1/dead-letters/export?event_type=c")).len(), 0);
}

#[test]
fn an_export_of_much_needs_little_memory() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 1);
    let large = vec![b'x'; 4_000_000];
    (0..25).for_each(|_| drop(dead(&api, &path, "large", &large)));
    let before = gateway.peak_bytes();
    // One reader asks and reads nothing until another has read all of it.
    let bearer = format!("Bearer {}", api.key);
    let asked = request("GET", "/v1/dead-letters/export", &[("authorization", &bearer)], b"");
    let mut slow = Client::connect(site.address()).unwrap();
    slow.write(&asked).unwrap();
    let exported = api.get("/v1/dead-letters/export");
    assert!(exported.body.len() > 100_000_000);
    let grown = gateway.peak_bytes() - before;
    assert!(grown < 80_000_000, "two exports of 100 MB took {grown} bytes");
    assert!(slow.answer().unwrap().body == exported.body);
}

/// Each of them would hold several lines.
const READERS: usize = 40;

#[test]
fn exports_that_nobody_reads_hold_a_bounded_part_of_the_memory_and_give_it_back() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 1);
    let large = vec![b'x'; 4_000_000];
    (0..6).for_each(|_| drop(dead(&api, &path, "large", &large)));
    let made = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let other = api.with_key(&text(&made["api_key"]["key"]));
    let before = gateway.peak_bytes();
    let bearer = format!("Bearer {}", api.key);
    let asked = request("GET", "/v1/dead-letters/export", &[("authorization", &bearer)], b"");
    let mut readers: Vec<Client> = (0..READERS).map(|_| Client::connect(site.address()).unwrap()).collect();
    readers.iter_mut().for_each(|reader| reader.write(&asked).unwrap());
    let held = || {
        let metrics = String::from_utf8(api.get("/metrics").body).unwrap();
        let line =
            metrics.lines().find(|line| line.contains("request_memory_bytes{") && line.contains("responses"));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).expect("a figure")
    };
    wait_until("they hold all that an account may", || (held() > 70_000_000).then_some(()));
    assert_eq!(lines(&other.get("/v1/dead-letters/export")).len(), 0, "another account exports");
    let grown = gateway.peak_bytes() - before;
    assert!(grown < 200_000_000, "{READERS} exports took {grown} bytes");
    // Those that go make room, and the one that reads at last gets all of it.
    let mut last = readers.pop().unwrap();
    drop(readers);
    assert_eq!(lines(&last.answer().unwrap()).len(), 6);
    drop(last);
    wait_until("all of it is given back", || (held() == 0).then_some(()));
}

#[test]
fn dead_letters_are_appended_to_a_file_as_they_happen() {
    let sink = Sink::start();
    let site = Site::new().with(&["--dead-letter-file", "dlq.jsonl", "--dead-letter-file-max-mb", "1"]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 2);
    let large = vec![b'x'; 600_000];
    let first = dead(&api, &path, "a", &large);
    let second = dead(&api, &path, "b", b"{\"b\": [1, 2]}");
    let third = dead(&api, &path, "c", &large);
    let exported = lines(&api.get("/v1/dead-letters/export"));
    assert_eq!(gateway.stop().code, Some(0), "and all of it is written");
    let read = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(site.path().join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (old, new) = (read("dlq.jsonl.1"), read("dlq.jsonl"));
    let events: Vec<&Value> = old.iter().chain(&new).map(|line| &line["event_id"]).collect();
    assert_eq!(events, [&json!(first), &json!(second), &json!(third)]);
    assert_eq!((old.len(), &old[1]["payload"]), (2, &json!({ "b": [1, 2] })));
    let written: Vec<&Value> = new.iter().chain(old.iter().rev()).collect();
    assert_eq!(written, exported.iter().collect::<Vec<_>>(), "the same lines as an export has");
}
