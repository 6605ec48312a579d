//! The server dies, and a standby that had every commit before it was answered takes its place.

use super::{Cluster, LEASE_SECONDS, check_ledger, ledger_of, load_on, patient, set_up};
use crate::rig::audit::fault_since;
use crate::rig::proxy::Proxy;
use crate::rig::{Gateway, Sink, wait_within};
use postrider_postgres::testing::Replicated;
use std::time::{Duration, Instant};

const PATHS: [&str; 3] = ["/a", "/b", "/c"];
/// On a busy machine, with the time that a lease takes to end and shards to be taken over.
const RESUMES_WITHIN: Duration = Duration::from_secs(40);

/// Nodes under load while the one server dies and the other takes its place.
fn check_failover<'s>(servers: &'s Replicated, mut cluster: Cluster<'s>, follow: impl FnOnce()) {
    let (sink, nodes) = (Sink::start(), cluster.start());
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    wait_within(RESUMES_WITHIN, "events arrive", || (sink.count() > 100).then_some(()));
    let died = Instant::now();
    servers.fail_over();
    cluster.server = &servers.standby;
    follow();
    let back = Instant::now();
    let before = sink.count();
    wait_within(RESUMES_WITHIN, "an event arrives again", || (sink.count() > before).then_some(()));
    println!("a standby after {:?}, the first event {:?} later", back - died, back.elapsed());
    wait_within(RESUMES_WITHIN, "events arrive again", || (sink.count() > before + 100).then_some(()));
    cluster.wait_for_parts(2);
    let away = fault_since(died);
    let ledger = ledger_of(loads);
    check_ledger(&ledger, &sink, &PATHS, &[away]);
    nodes.into_iter().for_each(|node: Gateway| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn a_standby_that_takes_over_has_all_that_was_accepted() {
    let servers = Replicated::start();
    let proxies = [Proxy::start(&servers.primary.socket()), Proxy::start(&servers.primary.socket())];
    let cluster = Cluster::by_proxies(&servers.primary, &proxies);
    check_failover(&servers, cluster, || {
        proxies.iter().for_each(|proxy| proxy.lead_to(&servers.standby.socket()));
    });
}

#[test]
fn nodes_that_were_given_both_servers_find_the_one_that_writes() {
    let servers = Replicated::start();
    let proxies = [&servers.standby, &servers.primary].map(|server| Proxy::start(&server.socket()));
    let url = servers.primary.database();
    // The standby first: it is passed by while it only reads.
    let hosts = proxies.each_ref().map(|proxy| proxy.address().to_string()).join(",");
    let name = url.split('?').next().and_then(|base| base.rsplit('/').next()).unwrap();
    let both = format!("postgres://postrider@{hosts}/{name}?sslmode=disable&target_session_attrs=read-write");
    let cluster = Cluster::by_ways(&servers.primary, url, &[both.clone(), both], LEASE_SECONDS);
    check_failover(&servers, cluster, || {});
}
