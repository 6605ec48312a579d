//! Readiness with a database that goes away, and what each node tells of its part.

use super::away::begin_with;
use super::database::CUT;
use super::{ADMIN_KEY, Cluster, api, set_up};
use crate::rig::proxy::Proxy;
use crate::rig::{Gateway, Reply, Sink, wait_until};
use crate::watching::Samples;
use postrider_postgres::testing::Server;
use postrider_torture::rig::tied;
use serde_json::{Value, json};
use std::process::{Output, Stdio};
use std::time::Duration;

/// Cuts nodes off from their database, and lets them in again.
struct Gate<'c> {
    cluster: &'c Cluster<'c>,
    elsewhere: String,
}

impl<'c> Gate<'c> {
    fn of(cluster: &'c Cluster<'c>) -> Self {
        Gate { cluster, elsewhere: Server::shared().database() }
    }

    fn name(&self) -> &str {
        self.cluster.url.rsplit('/').next().and_then(|name| name.split('?').next()).unwrap()
    }

    fn allow(&self, allowed: &str) {
        let alter = format!("ALTER DATABASE \"{}\" ALLOW_CONNECTIONS {allowed}", self.name());
        Server::shared().ask(&self.elsewhere, &alter);
    }

    fn shut(&self) {
        self.allow("false");
        let name = self.name();
        let cut = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        // One that was let in a moment before may not be seen at the first look.
        wait_until("nobody is in", || Server::shared().ask(&self.elsewhere, &cut).is_empty().then_some(()));
    }

    fn open(&self) {
        self.allow("true");
    }
}

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
    let gate = Gate::of(&cluster);
    gate.shut();
    let code = wait_until("it is not ready", || {
        let answer = node.get("/readyz");
        (answer.status == 503).then(|| answer.json()["code"].clone())
    });
    // Which of the two is seen first, the node cannot choose.
    assert!(code == "store_unavailable" || code == "no_lease", "{code}");
    wait_until("the log says why", || {
        let log = nodes[0].err();
        let line = log.lines().find(|line| line.contains("the store does not answer"))?.to_owned();
        let cause = line.split_once("error=").expect("a cause").1.to_owned();
        (!cause.is_empty()).then_some(())
    });
    assert_eq!(node.get("/healthz").status, 200, "it lives without its database");
    assert_eq!(Samples::scrape(&node).sum("postrider_ready", &[]), 0.0, "and tells of itself");
    gate.open();
    wait_until("it is ready again", || (node.get("/readyz").status == 200).then_some(()));
}

#[test]
fn a_node_that_cannot_renew_its_lease_says_that_it_holds_none() {
    let cluster = Cluster::new(1);
    let nodes = cluster.start();
    let node = api(&nodes[0]);
    wait_until("it is ready", || (node.get("/readyz").status == 200).then_some(()));
    // The database answers, and it can be written: but for the one row in which the lease is.
    let held = cluster.server.hold(&cluster.url, "BEGIN; SELECT node FROM members FOR UPDATE;");
    let refused =
        wait_until("it is not ready", || Some(node.get("/readyz")).filter(|told| told.status == 503));
    let told = refused.json();
    assert_eq!(
        (told["code"].as_str(), told["reason"].as_str()),
        (Some("no_lease"), Some("the node holds no lease")),
        "{refused}"
    );
    drop(held);
    wait_until("it is ready again", || (node.get("/readyz").status == 200).then_some(()));
}

#[test]
fn each_node_counts_the_circuits_of_its_own_destinations() {
    const DESTINATIONS: usize = 9;
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    set_up(&nodes, &sink, &["/in"; DESTINATIONS], &json!({}));
    let closed =
        |node: &Gateway| Samples::scrape(&api(node)).sum("postrider_circuits", &["state=\"closed\""]);
    // A picture of the queue is shared by those who ask within a moment.
    wait_until("the nodes together tell of each once", || {
        (nodes.iter().map(closed).sum::<f64>() == DESTINATIONS as f64).then_some(())
    });
}

#[test]
fn a_database_that_only_reads_is_not_ready_to_be_written() {
    let cluster = Cluster::steady(1);
    let nodes = cluster.start();
    let node = api(&nodes[0]);
    Samples::once(&node, "it can be written", |found| found.sum("postrider_store_writable", &[]) == 1.0);
    begin_with(&cluster, "on");
    cluster.ask(CUT);
    // Long before its lease ends.
    Samples::once(&node, "it cannot be written", |found| found.sum("postrider_store_writable", &[]) == 0.0);
    let refused = node.get("/readyz");
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (503, Some("store_unavailable")),
        "{refused}"
    );
    begin_with(&cluster, "off");
    wait_until("it is ready again", || (node.get("/readyz").status == 200).then_some(()));
}

#[test]
fn the_doctor_says_what_it_knows_while_the_database_is_away() {
    // What is owed is known for as long as the lease lasts.
    let cluster = Cluster::steady(1);
    let (nodes, sink) = (cluster.start(), Sink::start());
    sink.always("/in", Reply::held());
    let path = set_up(&nodes, &sink, &["/in"], &json!({}));
    api(&nodes[0]).send(&path, &[], b"{}");
    sink.wait_for("/in", 1);
    let look = || {
        let ran = doctor(&nodes[0]);
        let report: Value =
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"));
        (report, ran.status.code())
    };
    wait_until("the picture of the queue has it", || (look().0["pending"] == 1).then_some(()));
    Gate::of(&cluster).shut();
    let (report, code) = wait_until("the doctor finds it", || {
        Some(look()).filter(|(report, _)| report["severity"] == "critical")
    });
    let found = &report["findings"][0];
    assert!(found["code"] == "store_unavailable" || found["code"] == "no_lease", "{report}");
    assert!(found["next"][0].as_str().unwrap().starts_with("psql"), "{report}");
    assert_eq!((&report["pending"], code), (&json!(1), Some(3)), "{report}");
}

#[test]
fn the_doctor_names_a_database_that_is_slow() {
    let server = Server::shared();
    let (url, proxy) = (server.database(), Proxy::start(&server.socket()));
    let ways = [proxy.url(&url)];
    // Long enough for all that a slow way makes of a lease.
    let cluster = Cluster::by_ways(server, url, &ways, 60);
    let nodes = cluster.start();
    proxy.delay(Duration::from_millis(700));
    let found = wait_until("the doctor finds it", || {
        let report: Value = serde_json::from_slice(&doctor(&nodes[0]).stdout).ok()?;
        report["findings"].as_array()?.iter().find(|finding| finding["code"] == "store_slow").cloned()
    });
    assert!(found["next"][0].as_str().unwrap().contains("pg_stat_activity"), "{found}");
}

fn doctor(node: &Gateway) -> Output {
    let url = format!("http://{}", node.address());
    let mut command = tied::command(env!("CARGO_BIN_EXE_postrider"));
    command.args(["doctor", "--json", "--url", &url, "--key", ADMIN_KEY]);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("the binary was built with this test")
}
