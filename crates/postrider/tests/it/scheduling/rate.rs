//! A rate limit, measured at the receiver.

use super::Stage;
use serde_json::json;
use std::time::Duration;

/// A request may be on its way for longer than the one after it.
const JITTER: Duration = Duration::from_millis(80);

/// A backlog of this many events at this rate: never more at the receiver than it allows, and not much less.
fn check(per_second: u32, burst: u32, events: usize) {
    let stage = Stage::new(&[]);
    let rate_limit = json!({ "per_second": per_second, "burst": burst });
    let id = stage.destination("in", 3, &json!({ "rate_limit": rate_limit, "max_concurrency": 50 }));
    stage.pause(&id);
    stage.send_many("in", events);
    stage.resume(&id);
    let view = stage.view_once(&id, "waiting_for", &json!("rate_limit"));
    assert!(view["waiting_until"].is_string(), "{view}");
    let times: Vec<_> = stage.sink.wait_for("/in", events).iter().map(|arrival| arrival.began_at).collect();
    let allowed = |elapsed: Duration| f64::from(burst) + f64::from(per_second) * elapsed.as_secs_f64();
    for (first, from) in times.iter().enumerate() {
        for (last, until) in times.iter().enumerate().skip(first) {
            let (count, elapsed) = (last - first + 1, *until - *from);
            assert!(count as f64 <= allowed(elapsed + JITTER) + 0.001, "{count} within {elapsed:?}");
        }
    }
    let least = Duration::from_secs_f64((events - burst as usize) as f64 / f64::from(per_second));
    let took = times[events - 1] - times[0];
    assert!(took + JITTER >= least, "all within {took:?}, allowed in {least:?}");
    assert!(took < least * 3 + JITTER, "all within {took:?}, allowed in {least:?}");
}

#[test]
fn a_receiver_never_gets_more_than_its_rate_evenly_spread() {
    check(20, 1, 21);
}

#[test]
fn a_rest_earns_a_burst_and_no_more() {
    check(20, 10, 30);
}
