//! The connection breaks while the server still makes a COMMIT, as one does that waits for its disk or for a standby: what
//! becomes of it is waited for, and not judged by what can be seen meanwhile.

use super::{Cluster, api, most_owned_by, set_up};
use crate::rig::proxy::{Commits, Proxy};
use crate::rig::{Sink, wait_until};
use postrider_postgres::testing::{Held, Server};
use serde_json::json;
use std::thread;

/// Sessions that are in a COMMIT, which waits.
const COMMITTING: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'advisory'";
/// Sessions that wait for what such a one holds.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event <> 'advisory'";
/// As a server does that dies before the COMMIT is on its disk.
const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'advisory'";

/// Has every COMMIT wait that changes a table like this, until what is given is dropped.
fn hold_commits(cluster: &Cluster, change: &str) -> Held {
    let held = cluster.server.hold(&cluster.url, "SELECT pg_advisory_lock(7);");
    cluster.ask(&format!(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END';
         CREATE CONSTRAINT TRIGGER wait AFTER {change} DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION wait()"
    ));
    held
}

fn wait_for_any(cluster: &Cluster, what: &str, sessions: &str) {
    wait_until(what, || (cluster.ask(sessions) != "0").then_some(()));
}

/// An event's batch whose COMMIT ends like this after its node has asked what became of it.
fn check_batch(ends: impl FnOnce(&Cluster, Held), status: u16, stored: &str) {
    let (server, sink) = (Server::shared(), Sink::start());
    let proxies = [Proxy::start(&server.socket())];
    let cluster = Cluster::by_proxies(server, &proxies);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &["/a"], &json!({}));
    let held = hold_commits(&cluster, "UPDATE OF last_batch ON members");
    proxies[0].commits(Commits::LostDuring);
    let (at, node) = (path.clone(), api(&nodes[0]));
    let producer = thread::spawn(move || node.call("POST", &at, &[], b"in doubt").status);
    wait_for_any(&cluster, "its batch is in a commit", COMMITTING);
    proxies[0].commits(Commits::Pass);
    wait_until("the node asks what became of it, or has answered", || {
        (producer.is_finished() || cluster.ask(WAITING) != "0").then_some(())
    });
    ends(&cluster, held);
    assert_eq!((producer.join().unwrap(), &*cluster.ask("SELECT count(*) FROM events")), (status, stored));
    // What was answered is what happens: the event is sent, and another after it.
    wait_until("another event is taken", || {
        (api(&nodes[0]).call("POST", &path, &[], b"another").status == 202).then_some(())
    });
    sink.wait_for("/a", if status == 202 { 2 } else { 1 });
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn an_event_whose_commit_outlives_its_connection_is_taken_and_sent() {
    check_batch(|_, held| drop(held), 202, "1");
}

#[test]
fn an_event_whose_commit_dies_after_its_connection_is_refused() {
    let dies = |cluster: &Cluster, held| {
        cluster.ask(END);
        drop(held);
    };
    check_batch(dies, 503, "0");
}

/// Mail that its reader takes out by a COMMIT that ends like this.
fn check_mail(ends: impl FnOnce(&Cluster, Held)) {
    let (server, sink) = (Server::shared(), Sink::start());
    let proxies = [Proxy::start(&server.socket()), Proxy::start(&server.socket())];
    let cluster = Cluster::by_proxies(server, &proxies);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &["/a"], &json!({}));
    let owner = most_owned_by(&cluster, &nodes);
    let held = hold_commits(&cluster, "DELETE ON mail");
    proxies[owner].commits(Commits::LostDuring);
    api(&nodes[1 - owner]).send(&path, &[], b"{}");
    wait_for_any(&cluster, "its owner takes the letter out", COMMITTING);
    proxies[owner].commits(Commits::Pass);
    wait_for_any(&cluster, "the owner asks what became of it", WAITING);
    ends(&cluster, held);
    sink.wait_for("/a", 1);
    wait_until("it is recorded", || (cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()));
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
    assert_eq!(sink.count(), 1, "it was sent once");
}

#[test]
fn a_letter_whose_taking_outlives_its_connection_is_read() {
    check_mail(|_, held| drop(held));
}

#[test]
fn a_letter_whose_taking_dies_after_its_connection_is_read() {
    check_mail(|cluster, held| {
        cluster.ask(END);
        drop(held);
    });
}
