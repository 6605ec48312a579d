//! Times beyond what a signed 32-bit second holds, in schedules and on the wall.

use crate::rig::wall_clock::WallClock;
use crate::rig::{Sink, Site};
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// 2038-01-19T03:14:08Z, the first second that does not fit.
const OVERFLOW: i64 = 1 << 31;

#[test]
fn an_event_for_2038_or_9999_is_refused_with_what_is_allowed() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    for at in
        ["2038-01-19T03:14:07Z", "2038-01-19T03:14:08Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z"]
    {
        let answer = api.call("POST", &path, &[("postrider-deliver-at", at)], b"far");
        assert!(answer.refusal(422).contains("30 days"), "{at}: {answer}");
    }
    api.send(&path, &[], b"near");
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn the_second_in_which_32_bits_overflow_passes_like_any_other() {
    let (sink, (clock, site)) = (Sink::start(), WallClock::of(Site::new()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    clock.wrong_by(OVERFLOW - 1 - now);
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "ordering": "strict" }));
    // The sixth waits for a second behind the overflow, and holds up what is behind it.
    let behind = [("postrider-deliver-at", "2038-01-19T03:14:09Z")];
    let send = |number: usize| {
        let headers: &[(&str, &str)] = if number == 5 { &behind } else { &[] };
        api.send(&path, headers, number.to_string().as_bytes())
    };
    let mut ids: Vec<String> = (0..10).map(send).collect();
    assert_eq!(gateway.stop().code, Some(0));
    gateway = site.start();
    ids.push(send(10));
    ids.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    let arrivals = sink.arrivals();
    let bodies: Vec<String> =
        arrivals.iter().map(|arrival| String::from_utf8_lossy(&arrival.body).into_owned()).collect();
    assert_eq!(bodies, (0..11).map(|number| number.to_string()).collect::<Vec<_>>());
    let stamp: i64 = arrivals[5].headers.get("webhook-timestamp").unwrap().parse().unwrap();
    assert!((OVERFLOW + 1..OVERFLOW + 600).contains(&stamp), "{stamp}");
    assert_eq!(gateway.stop().code, Some(0));
}
