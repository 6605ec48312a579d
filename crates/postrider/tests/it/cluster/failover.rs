//! The server dies, and a standby that had every commit before it was answered takes its place.

use super::{Cluster, check_ledger, ledger_of, load_on, patient, set_up};
use crate::rig::audit::fault_since;
use crate::rig::proxy::Proxy;
use crate::rig::{Sink, wait_within};
use postrider_postgres::testing::Replicated;
use std::time::{Duration, Instant};

const PATHS: [&str; 3] = ["/a", "/b", "/c"];
/// On a busy machine, with the time that a lease takes to end and shards to be taken over.
const RESUMES_WITHIN: Duration = Duration::from_secs(40);

#[test]
fn a_standby_that_takes_over_has_all_that_was_accepted() {
    let (servers, sink) = (Replicated::start(), Sink::start());
    let proxies = [Proxy::start(&servers.primary.socket()), Proxy::start(&servers.primary.socket())];
    let mut cluster = Cluster::by_proxies(&servers.primary, &proxies);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    wait_within(RESUMES_WITHIN, "events arrive", || (sink.count() > 100).then_some(()));
    let died = Instant::now();
    servers.fail_over();
    cluster.server = &servers.standby;
    proxies.iter().for_each(|proxy| proxy.lead_to(&servers.standby.socket()));
    let back = Instant::now();
    let before = sink.count();
    wait_within(RESUMES_WITHIN, "events arrive again", || (sink.count() > before + 100).then_some(()));
    println!("a standby after {:?}, events again {:?} later", back - died, back.elapsed());
    cluster.wait_for_parts(2);
    let away = fault_since(died);
    let ledger = ledger_of(loads);
    check_ledger(&ledger, &sink, &PATHS, &[away]);
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
