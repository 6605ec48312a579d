//! No more is taken in than there is room for: refused at once, and taken again when there is room.

use super::Stage;
use crate::rig::{Answer, Reply, wait_until};
use serde_json::json;
use std::time::{Duration, Instant};

/// A refusal is given without waiting for anything; a busy machine may delay one, but not each of several.
const AT_ONCE: Duration = Duration::from_millis(100);
const REFUSALS: usize = 5;

/// Fails unless it is refused with all that a sender needs to know.
pub(crate) fn check_refused(answer: &Answer, status: u16, code: &str, limit: &str) {
    assert_eq!(answer.code(status), code, "{answer}");
    assert_eq!(answer.json()["limit"], limit, "{answer}");
    let wait: Option<u32> = answer.headers.get("retry-after").and_then(|text| text.parse().ok());
    assert!(wait.is_some_and(|seconds| (1..=60).contains(&seconds)), "{answer}");
}

/// With room for so many events of 100 bytes, the next is refused at once, and taken when the backlog drains.
fn check_room(args: &[&str], room: usize, limit: &str) {
    let mut stage = Stage::new(args);
    let id = stage.destination("in", 3, &json!({}));
    stage.pause(&id);
    let body = [b'x'; 100];
    for number in 0..room {
        assert_eq!(stage.offer("in", &body).status, 202, "number {number}");
    }
    let refusal = |_| {
        let asked_at = Instant::now();
        check_refused(&stage.offer("in", &body), 503, "overloaded", limit);
        asked_at.elapsed()
    };
    let fastest = (0..REFUSALS).map(refusal).min();
    assert!(fastest < Some(AT_ONCE), "refused after {fastest:?}");
    stage.restart();
    check_refused(&stage.offer("in", &body), 503, "overloaded", limit);
    let view = stage.view(&id);
    assert_eq!((&view["pending"], &view["pending_bytes"]), (&json!(room), &json!(room * 100)), "{view}");
    stage.resume(&id);
    stage.sink.wait_for("/in", room);
    wait_until("there is room again", || (stage.offer("in", &body).status == 202).then_some(()));
    stage.sink.wait_for("/in", room + 1);
    assert_eq!(stage.sink.arrivals_at("/in").len(), room + 1, "nothing of what was refused is sent");
}

#[test]
fn the_backlog_is_bounded_by_rows() {
    check_room(&["--backlog-max-rows", "50"], 50, "backlog_max_rows");
}

#[test]
fn the_backlog_is_bounded_by_bytes() {
    check_room(&["--backlog-max-bytes", "3kb"], 30, "backlog_max_bytes");
}

#[test]
fn the_backlog_is_bounded_by_how_long_it_waits() {
    let stage = Stage::new(&["--slots", "1", "--backlog-max-age", "1"]);
    stage.sink.always("/gate", Reply::held());
    stage.destination("gate", 3, &json!({ "timeout_seconds": 60 }));
    stage.destination("in", 3, &json!({}));
    stage.send("gate", &json!({}));
    stage.sink.wait_for("/gate", 1);
    let waiting = stage.send("in", &json!({}));
    let refused =
        wait_until("it waits too long", || Some(stage.offer("in", b"{}")).filter(|it| it.status != 202));
    check_refused(&refused, 503, "overloaded", "backlog_max_age");
    stage.sink.release();
    stage.api.event_once(&waiting, "delivered");
    wait_until("there is room again", || (stage.offer("in", b"{}").status == 202).then_some(()));
}
