//! The connection breaks at a COMMIT, before the server hears of it or after: an event is there once or not at all.

use super::{Cluster, api, set_up, wait_until};
use crate::rig::proxy::{Commits, Proxy};
use crate::rig::random::Random;
use crate::rig::{Gateway, Sink};
use postrider_postgres::testing::Server;
use serde_json::json;
use std::time::Duration;

const EVENTS: usize = 24;

/// Posts an event under its key, again and again until it is taken. Commits pass from the second time on.
fn post(node: &Gateway, proxy: &Proxy, path: &str, number: usize) {
    let (key, body) = (format!("key-{number}"), format!("{{\"number\":{number}}}"));
    wait_until("the event is taken", || {
        let answer = api(node).call("POST", path, &[("idempotency-key", &key)], body.as_bytes());
        proxy.commits(Commits::Pass);
        assert!([202, 503].contains(&answer.status), "{answer}");
        (answer.status == 202).then_some(())
    });
}

#[test]
fn a_commit_whose_answer_is_lost_is_neither_lost_nor_made_twice() {
    let mut random = Random::new("commits");
    let (server, sink) = (Server::shared(), Sink::start());
    let proxies = [Proxy::start(&server.socket())];
    let cluster = Cluster::by_proxies(server, &proxies);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &["/a"], &json!({}));
    for number in 0..EVENTS {
        let third = random.between(Duration::ZERO, Duration::from_micros(3)).as_micros();
        proxies[0].commits([Commits::Pass, Commits::LostBefore, Commits::LostAfter][third as usize]);
        post(&nodes[0], &proxies[0], &path, number);
    }
    sink.wait_for("/a", EVENTS);
    wait_until("all outcomes are recorded", || {
        (cluster.ask("SELECT count(*) FROM queue") == "0").then_some(())
    });
    let counts = "SELECT (SELECT count(*) FROM events) || ' ' || (SELECT count(*) FROM attempts)
         || ' ' || (SELECT count(*) FROM idempotency) || ' ' || (SELECT sum(inbound) FROM stats)";
    let expected = format!("{EVENTS} {EVENTS} {EVENTS} {EVENTS}");
    assert_eq!(cluster.ask(counts), expected, "events, attempts, keys, counted");
    println!("{EVENTS} events, {} commits broken, {} requests", proxies[0].broken(), sink.count());
    assert_eq!(sink.count(), EVENTS, "each was sent once");
    assert!(proxies[0].broken() > 0, "nothing was broken");
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
