//! One at a time stays one at a time over a kill: the old request may still be running at the receiver.

use crate::rig::{Reply, Sink, Site};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_receiver_of_one_at_a_time_never_has_two_even_after_a_kill() {
    let (sink, site) = (Sink::start(), Site::new());
    // The sink goes on working when its caller is gone, as a receiver does: longer than a restart takes.
    sink.next("/one", [Reply::status(200).after(Duration::from_millis(2500))]);
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/one"), &json!({ "max_concurrency": 1, "timeout_seconds": 3 }));
    let ids: Vec<String> = (0..3).map(|_| api.send(&path, &[], b"{}")).collect();
    sink.wait_for("/one", 1);
    for _ in 0..2 {
        gateway.kill();
        gateway = site.start();
    }
    ids.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    assert_eq!(sink.in_flight_max("/one"), 1);
    assert_eq!(sink.count(), 4, "the one that was cut off is sent again");
}

#[test]
fn after_a_stop_in_order_nobody_waits() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination(
        &sink.url("/one"),
        &json!({ "max_concurrency": 1, "timeout_seconds": 120, "active": false }),
    );
    api.send(&path, &[], b"{}");
    assert_eq!(gateway.stop().code, Some(0));
    let _gateway = site.start();
    api.patch(&format!("/v1/destinations/{id}"), &json!({ "active": true })).data(200);
    sink.wait_for("/one", 1);
}
