//! `/readyz` tells the truth, by real conditions, and `/healthz` does not depend on them.

use super::samples::Samples;
use crate::rig::api::text;
use crate::rig::small_disk::SmallDisk;
use crate::rig::{Api, Site, wait_until};
use crate::scheduling::Stage;
use serde_json::json;

/// Waits until it is not ready for this reason, and sees that it is alive and the metrics say the same. Gives the reason in
/// words.
fn not_ready_once(api: &Api, code: &str) -> String {
    let reason = wait_until(code, || {
        let answer = api.get("/readyz");
        (answer.status == 503 && answer.json()["code"] == code).then(|| text(&answer.json()["reason"]))
    });
    assert_eq!(api.get("/healthz").status, 200);
    assert_eq!(Samples::scrape(api).sum("postrider_ready", &[]), 0.0);
    reason
}

fn ready_once(api: &Api) {
    wait_until("it is ready again", || (api.get("/readyz").status == 200).then_some(()));
    assert_eq!(Samples::scrape(api).sum("postrider_ready", &[]), 1.0);
}

#[test]
fn a_flood_makes_it_not_ready_until_the_backlog_shrinks() {
    let stage = Stage::new(&["--backlog-max-rows", "10"]);
    let id = stage.destination("in", 3, &json!({}));
    stage.pause(&id);
    stage.send_many("in", 10);
    let reason = not_ready_once(&stage.api, "overloaded");
    assert!(reason.contains("backlog_max_rows"), "it names the limit: {reason}");
    (0..3).for_each(|_| assert_eq!(stage.offer("in", b"{}").status, 503));
    let found = Samples::scrape(&stage.api);
    assert_eq!(found.sum("postrider_shed_total", &["limit=\"backlog_max_rows\""]), 3.0);
    stage.resume(&id);
    ready_once(&stage.api);
}

#[test]
fn a_full_disk_makes_it_not_ready_until_there_is_space() {
    const MB: usize = 1 << 20;
    let disk = SmallDisk::new(40 * MB);
    let ballast = disk.ballast(10 * MB);
    let site = Site::new().data_in(disk.path().join("data")).with(&["--disk-reserve", "16MiB"]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    ready_once(&api);
    let more = disk.path().join("more");
    std::fs::write(&more, vec![1; 16 * MB]).unwrap();
    not_ready_once(&api, "disk_full");
    let found = Samples::once(&api, "the figures of the disk are of now", |found| {
        found.sum("postrider_disk_free_bytes", &[]) < found.sum("postrider_disk_reserve_bytes", &[])
    });
    assert_eq!(found.sum("postrider_disk_reserve_bytes", &[]), (16 * MB) as f64);
    assert_eq!(found.sum("postrider_store_writable", &[]), 0.0);
    assert_eq!(api.call("POST", &path, &[], b"x").code(503), "disk_full");
    assert_eq!(Samples::scrape(&api).sum("postrider_shed_total", &["limit=\"disk\""]), 1.0);
    std::fs::remove_file(more).unwrap();
    std::fs::remove_file(ballast).unwrap();
    ready_once(&api);
}

#[test]
fn a_disk_without_a_reserve_makes_it_not_ready_once_it_is_full() {
    const MB: usize = 1 << 20;
    let disk = SmallDisk::new(16 * MB);
    let site = Site::new().data_in(disk.path().join("data")).with(&["--disk-reserve", "0"]);
    let gateway = site.start();
    let api = gateway.api();
    ready_once(&api);
    let plug = disk.plug();
    not_ready_once(&api, "disk_full");
    std::fs::remove_file(plug).unwrap();
    ready_once(&api);
}
