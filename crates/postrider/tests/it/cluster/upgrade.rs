//! An upgrade, one node after the other: the first of the new version brings the schema up to date while those of the
//! version before go on.

use super::{Cluster, api, check_ledger, ledger_of, load_on, patient, set_up, wait_for_routes};
use crate::rig::audit::fault_since;
use crate::rig::{Sink, wait_until};
use std::time::Instant;

const PATHS: [&str; 3] = ["/a", "/b", "/c"];
/// A migration as a later version may have one: it only adds, so that whoever does not know of it needs not to. When it
/// and a node wait for each other's tables it is tried again, as a node that starts does.
const LATER: &str = "DO 'DECLARE at regclass; BEGIN LOOP BEGIN
         FOR at IN SELECT oid FROM pg_class WHERE relnamespace = ''public''::regnamespace
             AND relkind IN (''r'', ''p'') AND NOT relispartition AND relname <> ''refinery_schema_history'' LOOP
             EXECUTE format(''ALTER TABLE %s ADD COLUMN added text DEFAULT ''''later'''''', at);
         END LOOP;
         CREATE TABLE added (id bigint PRIMARY KEY);
         INSERT INTO refinery_schema_history
             SELECT version + 1, ''later'', applied_on, checksum FROM refinery_schema_history
             ORDER BY version DESC LIMIT 1;
         RETURN;
         EXCEPTION WHEN deadlock_detected THEN NULL;
     END; END LOOP; END'";

#[test]
fn nodes_of_the_version_before_go_on_beside_a_schema_that_was_added_to() {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let nodes: Vec<_> = cluster.sites[..2].iter().map(|site| site.start()).collect();
    cluster.wait_for_parts(2);
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    wait_until("something has arrived", || (sink.count() > 100).then_some(()));
    let began = Instant::now();
    cluster.ask(LATER);
    let before = sink.count();
    wait_until("events go on arriving", || (sink.count() > before + 300).then_some(()));
    let upgraded = fault_since(began);
    check_ledger(&ledger_of(loads), &sink, &PATHS, &[upgraded]);
    // What they are asked and told goes on too.
    api(&nodes[1]).destination(&sink.url("/d"), &patient());
    wait_for_routes(&nodes, PATHS.len() + 1);
    for asked in ["/v1/events", "/v1/dead-letters", "/v1/queue", "/v1/cluster", "/v1/stats", "/v1/audit"] {
        nodes.iter().for_each(|node| assert_eq!(api(node).get(asked).status, 200, "{asked}"));
    }
    let late = cluster.sites[2].refused();
    assert!(
        late.err.contains("set up by a later version"),
        "an older one is not started any more: {}",
        late.err
    );
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
