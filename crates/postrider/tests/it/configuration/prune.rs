//! What a file does not hold is left alone unless it is to be pruned.

use super::command::Desk;
use serde_json::json;

const FILE: &str = "destinations: [{name: kept, url: https://example.com}]\nroutes: [{destination: kept}]\n";

#[test]
fn the_rest_is_left_alone_or_pruned_routes_first() {
    let desk = Desk::with_secrets();
    let api = desk.gateway.api();
    desk.apply(FILE).out(0);
    let other = api.make("/v1/destinations", &json!({ "name": "other", "url": "https://example.com" }));
    api.make("/v1/routes", &json!({ "destination_id": other }));
    let left = desk.plan(FILE);
    let expected = "No changes.\nNot in the file, left unchanged:\n  source default\n  destination other\n  route any source → other (**)\n";
    assert_eq!(left.out(0), expected);

    let pruned = desk.run(&["plan", "-f", "-", "--prune"], FILE);
    let expected = "- route any source → other (**)\n- source default\n- destination other\n    its pending deliveries become dead letters\n0 to create, 0 to change, 3 to delete.\n";
    assert_eq!(pruned.out(2), expected);
    desk.run(&["apply", "-f", "-", "--prune", "--yes"], FILE).out(0);
    assert_eq!(api.get("/v1/routes").data(200).as_array().map(Vec::len), Some(1));
    assert_eq!(api.get("/v1/destinations").data(200).as_array().map(Vec::len), Some(1));
    assert_eq!(desk.plan(FILE).out(0), "No changes.\n");
}

#[test]
fn the_key_that_prunes_is_not_revoked() {
    let desk = Desk::with_secrets();
    let api = desk.gateway.api();
    let made = api.post("/v1/api-keys", &json!({ "name": "mine" })).data(201);
    api.post("/v1/api-keys", &json!({ "name": "other" })).data(201);
    let key = made["key"].as_str().unwrap();
    let pruned = desk.run(&["apply", "-f", "-", "--prune", "--yes", "--key", key], FILE);
    assert!(
        pruned.out(0).contains("deleted API key other") && !pruned.out.contains("deleted API key mine"),
        "{pruned:?}"
    );
    assert_eq!(api.with_key(key).get("/v1/sources").status, 200);
}
