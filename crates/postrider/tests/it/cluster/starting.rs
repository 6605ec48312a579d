//! A node that is started before its database is there.

use super::{ADMIN_KEY, api};
use crate::rig::{Gateway, Site, wait_until};
use postrider_postgres::testing::{Alone, Server};

fn site_of(url: &str) -> Site {
    Site::new().with(&["--database-url", url]).variable("POSTRIDER_ADMIN_KEY", ADMIN_KEY)
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
fn a_node_that_waits_for_its_database_can_be_stopped() {
    let server = Server::alone();
    let site = site_of(&server.database()).with(&["--database-wait-seconds", "3600"]);
    let ended = waiting_for(&server, &site).stop();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("stopped while it waited for the database"), "{}", ended.err);
}
