//! A node that is frozen with attempts in flight until others have taken its shards over: what it does then is nothing.

use super::{Cluster, api, check_ledger, ledger_of, load_on, most_owned_by, owned_by, set_up};
use crate::rig::audit::fault_since;
use crate::rig::proxy::Proxy;
use crate::rig::{Gateway, Reply, Sink, wait_until};
use crate::watching::samples::Samples;
use postrider_core::id::DestinationId;
use postrider_postgres::testing::Server;
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};

const PATHS: [&str; 8] = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"];
/// The server's answers to the node that wakes take so long: what it has to write is on its way before it can hear that it
/// was taken for dead.
const SLOW: Duration = Duration::from_millis(300);

#[test]
fn a_node_that_was_frozen_past_its_lease_changes_no_row_and_counts_what_it_drops() {
    let (server, sink) = (Server::shared(), Sink::start());
    let proxies = [Proxy::start(&server.socket()), Proxy::start(&server.socket())];
    let cluster = Cluster::by_proxies(server, &proxies);
    let mut nodes = cluster.start();
    for path in PATHS {
        sink.always(path, Reply::status(200).after(Duration::from_millis(100)));
    }
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 50, "jitter": "none" });
    let settings = json!({ "max_concurrency": 8, "retry_policy": policy, "timeout_seconds": 60 });
    let path = set_up(&nodes, &sink, &PATHS, &settings);
    let most = most_owned_by(&cluster, &nodes);
    let held = owned_by(&cluster, &nodes[0], most).remove(0);
    let frozen = nodes.remove(most);
    let loads = load_on(&nodes, &path);
    wait_until("something has arrived everywhere", || (sink.count() > 80).then_some(()));
    let stopped = Instant::now();
    frozen.signal(Signal::STOP);
    // Answered while it was in the hands of the frozen node, and owed as long as it is in those of its successor.
    sink.always(&held, Reply::held());
    let rows = Rows::owed_to(&cluster, destination_at(&nodes[0], &held));
    cluster.wait_for_parts(1);
    let written = rows.settled();
    proxies[most].delay(SLOW);
    frozen.signal(Signal::CONT);
    wait_until("what it had to write was written or refused", || {
        (commits_refused(&frozen) > 0.0 || rows.read() != written).then_some(())
    });
    let dropped = wait_until("it says what it dropped", || dropped(&frozen.err()));
    assert_eq!(rows.read(), written, "its life before wrote nothing more");
    println!("{written}\n{dropped} attempts were not recorded");
    assert!(dropped > 0);
    proxies[most].restore();
    sink.release();
    cluster.wait_for_parts(2);
    let away = fault_since(stopped);
    let ledger = ledger_of(loads);
    check_ledger(&ledger, &sink, &PATHS, &[away]);
    wait_until("nothing is owed", || (cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()));
    assert_eq!(cluster.ask(RECORDED_TWICE), "");
    nodes.into_iter().chain([frozen]).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

/// Deliveries with two attempts of one number, or with two that were successful.
const RECORDED_TWICE: &str = "SELECT delivery_id, count(*) FROM attempts GROUP BY delivery_id
     HAVING count(*) > count(DISTINCT number) OR count(*) FILTER (WHERE next = 'delivered') > 1";

/// What is written of the events that there were when a node was frozen.
struct Rows<'c> {
    cluster: &'c Cluster<'c>,
    last_event: String,
    /// To whom something is owed until the end; all else of these events is delivered before that.
    held: u64,
}

impl<'c> Rows<'c> {
    fn owed_to(cluster: &'c Cluster<'c>, held: DestinationId) -> Self {
        Rows { cluster, last_event: cluster.ask("SELECT max(id) FROM events"), held: held.as_u64() }
    }

    /// Once the successor has done with them what it can.
    fn settled(&self) -> String {
        let Rows { cluster, last_event, held } = self;
        let owed = |to: &str| {
            let of = format!("event_id <= {last_event} AND destination_id {to} {held}");
            cluster.ask(&format!("SELECT count(*) FROM queue WHERE {of}"))
        };
        wait_until("the others have been sent what they are owed", || (owed("<>") == "0").then_some(()));
        assert_ne!(owed("="), "0", "nothing was in the hands of the frozen node");
        self.read()
    }

    /// How many there are in each table, and all their bytes.
    fn read(&self) -> String {
        let of = |table: &str| {
            let last_event = &self.last_event;
            format!(
                "SELECT '{table}', count(*), md5(string_agg(t::text, ' ' ORDER BY t::text))
                 FROM {table} t WHERE event_id <= {last_event}"
            )
        };
        self.cluster.ask(&["attempts", "queue", "dead_letters"].map(of).join(" UNION ALL "))
    }
}

fn destination_at(node: &Gateway, path: &str) -> DestinationId {
    let found = api(node).get("/v1/destinations").data(200);
    let is_there = |url: &str| url.ends_with(path);
    let mut all = found.as_array().unwrap().iter();
    let id = all.find(|one| is_there(one["url"].as_str().unwrap())).expect("it is there")["id"].as_str();
    DestinationId::parse(id.unwrap()).unwrap()
}

/// Fenced or, where the node gave its connections up meanwhile, failed.
fn commits_refused(node: &Gateway) -> f64 {
    let found = Samples::scrape(&api(node));
    found.sum("postrider_commits_fenced_total", &[]) + found.sum("postrider_commits_failed_total", &[])
}

/// Attempts of shards that were taken over: those that had ended, and those still in flight.
fn dropped(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.contains("not recorded here"))?;
    let field = |name: &str| {
        let digits = line.split(name).nth(1)?;
        digits.split(|sign: char| !sign.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    Some(field("in_flight=")? + field("dropped_since_start=")?)
}
