//! The database goes away and comes back; and what cannot be opened is told in one sentence.

use super::{Cluster, api, wait_for_routes};
use crate::rig::audit::audit;
use crate::rig::load::{Fate, Load};
use crate::rig::wait::let_pass;
use crate::rig::{Sink, Site, wait_within};
use postrider_postgres::testing::Server;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_database_that_cuts_every_connection_costs_no_event() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    let paths = ["/a", "/b", "/c"];
    for at in paths {
        api(&nodes[0]).destination(&sink.url(at), &json!({}));
    }
    wait_for_routes(&nodes, paths.len());
    let loads =
        [Load::start_as(nodes[0].address(), &path, 0..2), Load::start_as(nodes[1].address(), &path, 2..4)];
    let mut faults = Vec::new();
    for _ in 0..5 {
        let_pass(Duration::from_millis(400));
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()";
        Server::shared().ask(&cluster.url, cut);
        faults.push(Instant::now());
    }
    let_pass(Duration::from_secs(1));
    let ledger: Vec<_> = loads.into_iter().flat_map(Load::stop).collect();
    wait_within(Duration::from_secs(60), "what was accepted has arrived", || {
        (audit(&ledger, &sink.arrivals(), &paths, &faults).lost == 0).then_some(())
    });
    let found = audit(&ledger, &sink.arrivals(), &paths, &faults);
    let refused = ledger.iter().filter(|entry| entry.fate == Fate::Refused).count();
    println!("{} events, {refused} refused: {found}", ledger.len());
    assert!(found.is_clean(), "{found}");
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

fn check_refused(url: &str, said: &[&str]) {
    let ended = Site::new().with(&["--database-url", url]).refused();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    for part in said {
        assert!(ended.err.contains(part), "{part:?} is not in\n{}", ended.err);
    }
    assert!(!ended.err.contains("hunter2") && !ended.err.contains("panicked"), "{}", ended.err);
}

#[test]
fn a_database_that_cannot_be_opened_is_told_in_a_sentence() {
    let server = Server::shared();
    check_refused("mysql://u:hunter2@localhost/d", &["--database-url", "postgres://"]);
    check_refused("postgres://u:hunter2@127.0.0.1:1/d", &["cannot connect", "refused"]);
    let newer = server.database();
    let site =
        Site::new().with(&["--database-url", &newer]).variable("POSTRIDER_ADMIN_KEY", super::ADMIN_KEY);
    site.start().stop();
    server.ask(&newer, "INSERT INTO refinery_schema_history SELECT 999, 'later', applied_on, checksum FROM refinery_schema_history LIMIT 1");
    check_refused(&newer, &["later version"]);

    let other_key = server.database();
    let with_key = |key: &str| {
        let site = Site::new().with(&["--database-url", &other_key]);
        site.variable("POSTRIDER_ADMIN_KEY", super::ADMIN_KEY).variable("POSTRIDER_SECRET_KEY", key)
    };
    with_key("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").start().stop();
    let ended = with_key("//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=").refused();
    assert!(ended.err.contains("sealed with another key"), "{}", ended.err);

    let denied = server.database();
    server.ask(&denied, "CREATE ROLE guest LOGIN; REVOKE CREATE ON SCHEMA public FROM public");
    check_refused(&denied.replace("postrider@", "guest@"), &["\"guest\"", "GRANT"]);
}
