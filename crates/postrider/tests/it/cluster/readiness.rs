//! Readiness with a database that goes away, and what each node tells of its part.

use super::{Cluster, api};
use crate::rig::wait_until;
use crate::watching::Samples;
use postrider_postgres::testing::Server;

#[test]
fn without_its_database_a_node_lives_and_is_not_ready() {
    let cluster = Cluster::new(1);
    let nodes = cluster.start();
    let node = api(&nodes[0]);
    wait_until("it is ready", || (node.get("/readyz").status == 200).then_some(()));
    let found = Samples::scrape(&node);
    assert_eq!(found.sum("postrider_shards_owned", &[]), 64.0);
    let renewed = found.sum("postrider_lease_renewals_total", &[]);
    Samples::once(&node, "the lease is renewed", |found| {
        found.sum("postrider_lease_renewals_total", &[]) > renewed
    });
    let elsewhere = Server::shared().database();
    let name = cluster.url.rsplit('/').next().and_then(|name| name.split('?').next()).unwrap();
    let allow = |allowed: &str| {
        Server::shared().ask(&elsewhere, &format!("ALTER DATABASE \"{name}\" ALLOW_CONNECTIONS {allowed}"))
    };
    allow("false");
    let cut = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    Server::shared().ask(&elsewhere, &cut);
    let reason = wait_until("it is not ready", || {
        let answer = node.get("/readyz");
        (answer.status == 503).then(|| answer.json()["reason"].to_string())
    });
    assert!(reason.contains("the store does not answer") || reason.contains("no lease"), "{reason}");
    assert_eq!(node.get("/healthz").status, 200, "it lives without its database");
    assert_eq!(Samples::scrape(&node).sum("postrider_ready", &[]), 0.0, "and tells of itself");
    allow("true");
    wait_until("it is ready again", || (node.get("/readyz").status == 200).then_some(()));
}
