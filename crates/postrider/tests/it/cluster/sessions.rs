//! Sessions of nodes that share a database.

use super::{Cluster, api};
use crate::dashboard::browser::{Browser, next};
use crate::dashboard::sessions::is_signed_in;
use crate::rig::api::text;
use crate::rig::wait_until;
use serde_json::json;

#[test]
fn every_node_knows_a_session_and_that_it_is_over() {
    let cluster = Cluster::new(2);
    let nodes = cluster.start();
    let (here, there) = (api(&nodes[0]), api(&nodes[1]));
    let made = here.post("/v1/api-keys", &json!({ "name": "mine", "scope": "admin" })).data(201);
    let key = text(&made["key"]);
    wait_until("the other node knows the key", || {
        (there.with_key(&key).get("/v1/routes").status == 200).then_some(())
    });
    let (ours, owner) = (Browser::signed_in(&here), Browser::signed_in(&there.with_key(&key)));
    for cookie in [&ours.cookie, &owner.cookie] {
        assert!(is_signed_in(&here, cookie) && is_signed_in(&there, cookie));
    }
    // Not waited for: whoever is asked next knows it.
    next(&ours.change("/sign-out", &[]));
    assert!(!is_signed_in(&there, &ours.cookie), "it was ended on the other node");
    assert_eq!(here.delete(&format!("/v1/api-keys/{}", text(&made["id"]))).status, 204);
    assert!(!is_signed_in(&there, &owner.cookie), "its key was revoked on the other node");
}
