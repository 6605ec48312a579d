//! The dashboard of nodes that share a database: what each shows of all of them, and says that it does not know.

use super::{Cluster, api, wait_for_routes};
use crate::dashboard::browser::Browser;
use crate::rig::{Sink, wait_until};
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
            let answers = row(&format!("node-{other}")).contains("answers you");
            assert_eq!(answers, other == number, "{page}");
        }
        for part in ["All 64 shards", "Letters between nodes", "Shards without an owner", "survives"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("embedded store") && !page.contains("tag bad"), "{page}");
        assert!(browser.page("/settings").contains("PostgreSQL"));
    }
}

#[test]
fn a_node_says_that_another_counts_how_attempts_went() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    let id = api(&nodes[0]).destination(&sink.url("/in"), &json!({ "name": "shared" }));
    wait_for_routes(&nodes, 1);
    let event = api(&nodes[0]).send(&path, &[], b"{}");
    api(&nodes[0]).event_once(&event, "delivered");
    let browsers: Vec<Browser> = nodes.iter().map(|node| Browser::signed_in(&api(node))).collect();
    let shown = wait_until("one has counted, and the other says so", || {
        let pages: Vec<String> =
            browsers.iter().map(|browser| browser.page(&format!("/destinations/{id}"))).collect();
        let counted = pages.iter().position(|page| page.contains("1 delivered, 0 failed"))?;
        pages[1 - counted].contains("Another node sends to it").then_some((counted, pages))
    });
    let (counted, pages) = shown;
    assert!(!pages[counted].contains("Another node sends to it"), "{}", pages[counted]);
    assert!(browsers[counted].page("/destinations").contains("Last hour: 1 delivered, 0 failed"));
    let list = browsers[1 - counted].page("/destinations");
    assert!(list.contains("counted by another node") && !list.contains("nothing sent"), "{list}");
}
