//! A database that cuts connections while nodes work.

use super::{Cluster, check_ledger, ledger_of, load_on, set_up};
use crate::rig::Sink;
use crate::rig::audit::fault_since;
use crate::rig::load::Fate;
use crate::rig::wait::let_pass;
use serde_json::json;
use std::time::{Duration, Instant};

/// All sessions but the one that asks.
pub(super) const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[test]
fn a_database_that_cuts_every_connection_costs_no_event() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let nodes = cluster.start();
    let paths = ["/a", "/b", "/c"];
    let path = set_up(&nodes, &sink, &paths, &json!({}));
    let loads = load_on(&nodes, &path);
    let mut faults = Vec::new();
    for _ in 0..5 {
        let_pass(Duration::from_millis(400));
        let cut = Instant::now();
        cluster.ask(CUT);
        faults.push(fault_since(cut));
    }
    let_pass(Duration::from_secs(1));
    let ledger = ledger_of(loads);
    let refused = ledger.iter().filter(|entry| entry.fate == Fate::Refused).count();
    println!("{refused} refused");
    check_ledger(&ledger, &sink, &paths, &faults);
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
