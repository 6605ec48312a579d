//! The dashboard of nodes that share a database: what each shows of all of them.

use super::{Cluster, api, owned_by, wait_for_routes};
use crate::dashboard::browser::Browser;
use crate::dashboard::in_chromium::every_page::look_at;
use crate::dashboard::in_chromium::signed_in;
use crate::rig::{Gateway, Reply, Sink, wait_until};
use serde_json::json;

#[test]
fn the_page_of_the_cluster_shows_every_node_and_its_shards() {
    let cluster = Cluster::new(2);
    let nodes = cluster.start();
    for (number, node) in nodes.iter().enumerate() {
        let browser = Browser::signed_in(&api(node));
        let page = wait_until("both nodes have told what they do", || {
            let page = browser.page("/cluster");
            let table = page.split("<h2>Nodes</h2>").nth(1)?.split("</table>").next()?;
            let close: String = table.split_whitespace().collect();
            // Shards, and what it has in flight and is owed.
            let told = [32, 0, 0].map(|figure| format!("<tdclass=\"number\">{figure}</td>")).concat();
            (close.matches(&told).count() == 2).then_some(page)
        });
        let row = |name: &str| {
            let rows = page.split("<tr>").find(|row| row.contains(&format!("<td>{name}")));
            rows.unwrap_or_else(|| panic!("{name} is not in {page}")).to_owned()
        };
        for other in 0..2 {
            let answers = row(&format!("node-{other}")).contains("this node");
            assert_eq!(answers, other == number, "{page}");
        }
        for part in ["All 64 shards", "Messages between nodes", "Unowned shards", "Accepted events survive"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("embedded store") && !page.contains("tag bad"), "{page}");
        assert!(browser.page("/settings").contains("PostgreSQL"));
    }
    let mut tab = signed_in(&api(&nodes[0]));
    let found = look_at(&mut tab, "cluster-of-two", "/cluster");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_node_shows_how_attempts_went_and_goes_on_when_the_one_that_made_them_stops() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    sink.always("/in", Reply::status(500));
    let policy = json!({
        "name": "shared", "circuit": { "threshold": 100 },
        "retry_policy": { "delays_seconds": [0.01], "max_attempts": 3 },
    });
    let id = api(&nodes[0]).destination(&sink.url("/in"), &policy);
    wait_for_routes(&nodes, 1);
    let event = api(&nodes[0]).send(&path, &[], b"{}");
    api(&nodes[0]).event_once(&event, "dead_letter");
    let told = |node: &Gateway, attempts: u64| {
        wait_until("the node shows every attempt", || {
            let told = api(node).get("/v1/stats/destinations").data(200);
            let failed = told[0]["minutes"].as_array()?.iter().filter_map(|minute| minute["failed"].as_u64());
            (failed.sum::<u64>() == attempts).then(|| told[0].clone())
        })
    };
    let (one, other) = (told(&nodes[0], 3), told(&nodes[1], 3));
    assert_eq!(one, other);
    assert_eq!(one["errors"], json!([{ "error_kind": "status", "count": 3 }]));
    let minute = &one["minutes"][0];
    let times = ["p50_ms", "p95_ms", "slowest_ms"].map(|field| minute[field].as_f64().unwrap());
    assert!(times[0] > 0.0 && times[0] <= times[1] && times[1] <= times[2].max(1.0), "{minute}");
    for node in &nodes {
        let browser = Browser::signed_in(&api(node));
        let page = browser.page(&format!("/destinations/{id}"));
        for part in ["0 delivered, 3 failed", "p95", "Attempt errors since"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(browser.page("/destinations").contains("Last hour: 0 delivered, 3 failed"));
    }

    let owner = (0..2).find(|number| !owned_by(&cluster, &nodes[0], *number).is_empty()).unwrap();
    let gone = nodes.remove(owner);
    gone.stop();
    cluster.wait_for_parts(1);
    let again = api(&nodes[0]).send(&path, &[], b"{}");
    api(&nodes[0]).event_once(&again, "dead_letter");
    assert_eq!(told(&nodes[0], 6)["errors"][0]["count"], 6, "what each has counted, once");
}
