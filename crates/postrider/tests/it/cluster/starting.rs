//! A node that is started before its database is there.

use super::{api, sharing};
use crate::rig::api::text;
use crate::rig::{Api, Gateway, Site, wait_until};
use postrider_postgres::testing::{Alone, Server};
use serde_json::json;

fn site_of(url: &str) -> Site {
    sharing(Site::new(), url)
}

/// A node whose database is stopped, once it says so.
fn waiting_for(server: &Alone, site: &Site) -> Gateway {
    server.stop();
    let node = site.spawn();
    wait_until("it waits for the database", || node.err().contains("waiting for the database").then_some(()));
    node
}

#[test]
fn a_node_waits_for_a_database_that_is_started_after_it() {
    let server = Server::alone();
    let site = site_of(&server.database());
    let mut node = waiting_for(&server, &site);
    let door = api(&node);
    assert_eq!(door.get("/healthz").status, 200, "it lives");
    let refused = door.get("/readyz");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (503, Some("store_unavailable")));
    let refused = door.get("/v1/destinations");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (503, Some("store_unavailable")));
    assert!(refused.headers.get("retry-after").is_some(), "whoever asks is told to come again");
    server.start_again();
    node.wait_for_banner();
    wait_until("it is ready", || (door.get("/readyz").status == 200).then_some(()));
    assert_eq!(door.get("/v1/destinations").status, 200);
    let said = node.stop().err;
    assert_eq!(said.matches("waiting for the database").count(), 1, "it says so once\n{said}");
}

#[test]
fn a_node_that_waits_for_its_database_says_so_where_metrics_are_read_too() {
    let server = Server::alone();
    let own = Site::new().address();
    let site = site_of(&server.database()).with(&["--metrics-listen", &own.to_string()]);
    let mut node = waiting_for(&server, &site);
    let watcher = Api { address: own, key: String::new() };
    assert_eq!(watcher.get("/healthz").status, 200, "it lives");
    for path in ["/readyz", "/metrics"] {
        let refused = watcher.get(path);
        assert_eq!(
            (refused.status, refused.json()["code"].as_str()),
            (503, Some("store_unavailable")),
            "{path}"
        );
    }
    server.start_again();
    node.wait_for_banner();
    wait_until("metrics are told", || (watcher.get("/metrics").status == 200).then_some(()));
}

#[test]
fn a_node_that_waits_for_its_database_can_be_stopped() {
    let server = Server::alone();
    let site = site_of(&server.database()).with(&["--database-wait-seconds", "3600"]);
    let ended = waiting_for(&server, &site).stop();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("stopped while it waited for the database"), "{}", ended.err);
}

#[test]
fn a_database_that_holds_the_key_of_its_secrets_is_warned_of_until_it_has_one_from_elsewhere() {
    const WARNING: &str = "the key that seals secrets is stored in the same database as the secrets";
    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let url = Server::shared().database();
    let site = site_of(&url);
    let node = site.start();
    let verification = json!({ "header": "x-secret", "secret": "open sesame" });
    let source = json!({ "name": "s", "auth_mode": "shared_secret", "verification_config": verification });
    let path = text(&api(&node).post("/v1/sources", &source).data(201)["path_token"]);
    assert_eq!(node.stop().err.matches(WARNING).count(), 1);
    let refused = site_of(&url).variable("POSTRIDER_SECRET_KEY", KEY).refused();
    assert!(refused.err.contains("key"), "{}", refused.err);

    // As the page about security says it is moved away from.
    let kept = Server::shared().ask(&url, "SELECT encode(secret_key, 'base64') FROM cluster");
    let moved = site_of(&url).variable("POSTRIDER_SECRET_KEY", format!("{KEY},{}", kept.trim()));
    let node = moved.start();
    Server::shared().ask(&url, "UPDATE cluster SET secret_key = NULL");
    api(&node).send(&format!("/ingest/{path}"), &[("x-secret", "open sesame")], b"{}");
    let said = node.stop().err;
    assert!(!said.contains(WARNING), "{said}");
    let node = moved.start();
    api(&node).send(&format!("/ingest/{path}"), &[("x-secret", "open sesame")], b"{}");
}
