//! The server is stopped, killed, or only reads: events are refused at once and taken again soon after it is back.

use super::database::CUT;
use super::{Cluster, api, check_ledger, ledger_of, load_on, patient, set_up};
use crate::rig::audit::fault_since;
use crate::rig::load::{Entry, Fate};
use crate::rig::proxy::Proxy;
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Sink, wait_until, wait_within};
use postrider_postgres::testing::{Alone, Server};
use std::thread;
use std::time::{Duration, Instant};

/// What is promised.
const RESUMES_WITHIN: Duration = Duration::from_secs(10);
/// On a busy machine.
const AT_ONCE: Duration = Duration::from_secs(2);
/// The default of `--commit-max-ms`, and a little more.
const COMMIT_MAX: Duration = Duration::from_millis(2200);
const PATHS: [&str; 3] = ["/a", "/b", "/c"];

/// Posts events until one is answered with a status, within a time; gives what became of all of them.
fn post_until(node: &Gateway, path: &str, status: u16, within: Duration) -> Vec<Entry> {
    post_more(Vec::new(), node, path, status, within)
}

/// The same after those that were posted before.
fn post_more(
    mut ledger: Vec<Entry>,
    node: &Gateway,
    path: &str,
    status: u16,
    within: Duration,
) -> Vec<Entry> {
    wait_within(within, &format!("an event is answered with {status}"), || {
        let body = format!("{{\"asked_for\":{status},\"number\":{}}}", ledger.len()).into_bytes();
        let asked = Instant::now();
        let answer = api(node).call("POST", path, &[], &body);
        let fate = if answer.status == 202 { Fate::Accepted } else { Fate::Refused };
        ledger.push(Entry { body, fate });
        if answer.status == 503 {
            assert!(answer.headers.get("retry-after").is_some(), "{answer}");
            assert!(status != 503 || asked.elapsed() < AT_ONCE, "refused after {:?}", asked.elapsed());
        }
        (answer.status == status).then_some(())
    });
    ledger
}

/// Two nodes under load while their server goes away and comes back.
fn check_away(goes: impl FnOnce(&Cluster, &Alone), comes_back: impl FnOnce(&Cluster, &Alone)) {
    let (server, sink) = (Server::alone(), Sink::start());
    let cluster = Cluster::on(&server, 2);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    wait_until("something has arrived", || (sink.count() > 30).then_some(()));
    let gone = Instant::now();
    goes(&cluster, &server);
    // Whoever is in a commit of which nobody knows yet what became of it waits; no other does, once it takes so long.
    let_pass(COMMIT_MAX);
    let mut probes = post_until(&nodes[0], &path, 503, RESUMES_WITHIN);
    comes_back(&cluster, &server);
    let back = Instant::now();
    probes.extend(post_until(&nodes[0], &path, 202, RESUMES_WITHIN));
    println!("taken again after {:?}", back.elapsed());
    let taken = probes.last().expect("one was taken");
    wait_within(RESUMES_WITHIN, "what was taken is sent", || {
        sink.arrivals().iter().any(|arrival| arrival.body == taken.body).then_some(())
    });
    println!("sent again after {:?}", back.elapsed());
    cluster.wait_for_parts(2);
    let away = fault_since(gone);
    let_pass(Duration::from_millis(300));
    let mut ledger = ledger_of(loads);
    ledger.extend(probes);
    check_ledger(&ledger, &sink, &PATHS, &[away]);
    for node in nodes {
        let ended = node.stop();
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
}

#[test]
fn a_server_that_is_restarted_costs_no_event() {
    check_away(|_, server| server.stop(), |_, server| server.start_again());
}

#[test]
fn a_server_that_is_killed_costs_no_event() {
    check_away(|_, server| server.kill(), |_, server| server.start_again());
}

/// As the kernel does with one of its processes when memory is short. It cuts all connections and is back by itself.
#[test]
fn a_server_whose_backends_are_killed_costs_no_event() {
    let (server, sink) = (Server::alone(), Sink::start());
    let cluster = Cluster::on(&server, 2);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    let (mut probes, mut faults) = (Vec::new(), Vec::new());
    for round in 1..=3 {
        let arrived = sink.count();
        wait_until("something has arrived", || (sink.count() > arrived + 30).then_some(()));
        let gone = Instant::now();
        server.kill_backend(&cluster.url);
        wait_until("the server sees it", || (server.killed_backends() == round).then_some(()));
        probes = post_more(probes, &nodes[0], &path, 202, RESUMES_WITHIN);
        println!("taken again after {:?}", gone.elapsed());
        cluster.wait_for_parts(2);
        faults.push(fault_since(gone));
    }
    let mut ledger = ledger_of(loads);
    ledger.extend(probes);
    check_ledger(&ledger, &sink, &PATHS, &faults);
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

/// What sessions of the database do unless they say otherwise.
pub(super) fn begin_with(cluster: &Cluster, word: &str) {
    let name = cluster.ask("SELECT current_database()");
    cluster.ask(&format!(
        "BEGIN READ WRITE; ALTER DATABASE {name} SET default_transaction_read_only = {word}; COMMIT"
    ));
}

#[test]
fn a_server_that_only_reads_for_a_while_costs_no_event() {
    let reads = |cluster: &Cluster, _: &Alone| {
        begin_with(cluster, "on");
        cluster.ask(CUT);
    };
    // Sessions that are open go on reading only: nodes must not go on with them.
    check_away(reads, |cluster, _| begin_with(cluster, "off"));
}

/// Posts an event beside all others; gives its status, and when it was asked and answered.
fn post_aside(node: &Gateway, path: &str) -> thread::JoinHandle<(u16, Instant, Duration)> {
    let (node, path) = (api(node), path.to_owned());
    thread::spawn(move || {
        let asked = Instant::now();
        let answer = node.call("POST", &path, &[], b"{}");
        let took = asked.elapsed();
        assert!(answer.status != 503 || answer.headers.get("retry-after").is_some(), "{answer}");
        (answer.status, asked, took)
    })
}

#[test]
fn a_server_that_falls_silent_keeps_nobody_waiting_who_is_in_no_commit() {
    let (server, sink) = (Server::shared(), Sink::start());
    let proxies = [Proxy::start(&server.socket())];
    let cluster = Cluster::by_proxies(server, &proxies);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &["/a"], &patient());
    proxies[0].stall();
    let silent = Instant::now();
    // Whoever comes first is in a commit of which nobody knows what becomes of it.
    let in_doubt = post_aside(&nodes[0], &path);
    let mut behind = Vec::new();
    while silent.elapsed() < COMMIT_MAX * 2 {
        let_pass(Duration::from_millis(100));
        behind.push(post_aside(&nodes[0], &path));
    }
    for answer in behind {
        let (status, asked, took) = answer.join().unwrap();
        let patience = COMMIT_MAX.saturating_sub(asked - silent) + AT_ONCE;
        assert!(status == 503 && took < patience, "{status} after {took:?}, asked {:?} in", asked - silent);
    }
    assert!(!in_doubt.is_finished(), "it was answered before anybody could know");
    proxies[0].restore();
    let back = Instant::now();
    let (status, ..) = in_doubt.join().unwrap();
    post_until(&nodes[0], &path, 202, RESUMES_WITHIN);
    sink.wait_for("/a", if status == 202 { 2 } else { 1 });
    println!("sent again after {:?}", back.elapsed());
}
