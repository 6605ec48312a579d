//! `postrider cluster`: the nodes in a table, and for programs as the API has them.

use crate::rig::Desk;

#[test]
fn the_nodes_are_shown_in_a_table_and_as_json() {
    let desk = Desk::new();
    let shown = desk.said(&["cluster"]);
    let shown = shown.out(0);
    assert!(shown.starts_with("NODE") && shown.contains("LEASE MS"), "{shown}");
    assert!(shown.contains("lag 0 ms, 0 shard messages pending, 0 takeovers, 0 shards unowned"), "{shown}");
    let json = desk.said(&["cluster", "--json"]).json(0);
    assert_eq!(
        (&json["store"], json["shards"].as_array().map(Vec::len)),
        (&"sqlite".into(), Some(64)),
        "{json}"
    );
}
