//! Every alert that is shipped is seen firing: a real Prometheus scrapes real gateways in real trouble. The one about a node
//! that was taken for dead has its node in `cluster/alerted.rs`; the one about a node that has nothing left is judged by
//! its series alone (`deploy/prometheus/alerts_test.yml`).

use super::samples::Samples;
use crate::rig::prometheus::{Prometheus, shipped_alerts};
use crate::rig::wall_clock::WallClock;
use crate::rig::{Gateway, Reply, Site, wait_within};
use crate::scheduling::Stage;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// What takes other nodes.
pub(crate) const OF_NODES: &str = "PostriderFenced";
/// What takes other nodes, and what takes a machine that has nothing left.
const NOT_MADE: [&str; 2] = [OF_NODES, "PostriderNodeResources"];
/// The longest wait of an alert is a quarter of a minute here.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// A gateway that has had a bulk event for three hours.
fn with_old_bulk(clock: &WallClock, site: &Site) -> Gateway {
    let gateway = site.start();
    let api = gateway.api();
    let destination = json!({ "name": "bulk", "url": "http://127.0.0.1:9/", "active": false });
    let id = api.make("/v1/destinations", &destination);
    api.make("/v1/routes", &json!({ "destination_id": id, "priority": 4 }));
    let (_, ingest) = api.source();
    api.send(&ingest, &[], b"{}");
    assert_eq!(gateway.stop().code, Some(0));
    clock.wrong_by(3 * 3600);
    site.start()
}

/// A gateway whose disk is full up to its reserve.
fn with_full_disk() -> (Site, Gateway) {
    let free = Samples::scrape(&Stage::new(&[]).api).sum("postrider_disk_free_bytes", &[]);
    let site = Site::new().with(&["--disk-reserve", &format!("{:.0}", free * 1.5)]);
    let gateway = site.start();
    (site, gateway)
}

fn make_trouble(stage: &Stage) {
    ["/dies", "/down"].iter().for_each(|path| stage.sink.always(path, Reply::status(500)));
    ["/hangs", "/urgent"].iter().for_each(|path| stage.sink.always(path, Reply::held()));
    let give_up = json!({ "delays_seconds": [0.01], "max_attempts": 1 });
    stage.destination("dies", 2, &json!({ "retry_policy": give_up, "circuit": { "threshold": 10_000 } }));
    stage.destination("down", 2, &json!({ "circuit": { "threshold": 2, "cooldown_seconds": 600 } }));
    let hanging = json!({ "max_concurrency": 50, "adaptive": false, "timeout_seconds": 120 });
    stage.destination("urgent", 1, &hanging);
    stage.destination("hangs", 3, &hanging);
    stage.send_many("dies", 3);
    stage.send_many("down", 3);
    stage.send_many("urgent", 12);
    let line = json!({ "event_type": "hangs", "payload": 1 }).to_string();
    let lines = vec![line; 1000].join("\n");
    for _ in 0..6 {
        stage.api.call("POST", "/v1/events/batch", &[], lines.as_bytes()).data(202);
    }
}

#[test]
fn every_shipped_alert_but_that_of_nodes_fires_in_a_real_prometheus_on_embedded_stores() {
    let (clock, site) = WallClock::of(Site::new());
    let (bulk, (_disk_site, disk)) = (with_old_bulk(&clock, &site), with_full_disk());
    let stage = Stage::new(&["--slots", "16", "--backlog-max-rows", "5500"]);
    let gateways = [stage.gateway().address(), bulk.address(), disk.address()];
    let prometheus = Prometheus::start(&gateways);
    make_trouble(&stage);
    let expected: BTreeSet<String> =
        shipped_alerts().into_iter().filter(|name| !NOT_MADE.contains(&name.as_str())).collect();
    // It is seen when what has waited for long is sent.
    let late = "PostriderQueueWaitLong";
    let mut fired = BTreeSet::new();
    wait_within(PATIENCE, "all but one have fired", || {
        assert_eq!(stage.offer("hangs", b"{}").status, 503);
        let now = prometheus.fired();
        if now != fired {
            println!("not yet: {:?}", expected.difference(&now).collect::<Vec<_>>());
        }
        fired = now;
        expected.iter().all(|name| name == late || fired.contains(name)).then_some(())
    });
    stage.sink.release();
    wait_within(PATIENCE, "the last one has fired", || prometheus.fired().contains(late).then_some(()));
    assert!(prometheus.fired().is_subset(&expected), "{:?}", prometheus.fired());
}
