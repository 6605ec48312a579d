//! The nodes that share the store, who owns what of it, and how far behind it is.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::guard::Visitor;
use super::inside::Inside;
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

#[derive(Deserialize)]
struct Cluster {
    store: String,
    this_node: u16,
    durability: Option<String>,
    lag_ms: u64,
    messages_pending: u64,
    messages_oldest_ms: u64,
    takeovers: u64,
    unowned_shards: Vec<u8>,
    unowned_pending: u64,
    nodes: Vec<Node>,
    shards: Vec<Shard>,
}

#[derive(Deserialize)]
struct Node {
    number: u16,
    name: String,
    version: String,
    since: String,
    lease_left_ms: Option<u64>,
    shards: Vec<u8>,
    activity: Option<Activity>,
}

#[derive(Deserialize)]
struct Activity {
    in_flight: u64,
    pending: u64,
    longest_wait_ms: u64,
}

#[derive(Deserialize)]
struct Shard {
    shard: u8,
    node: Option<u16>,
    epoch: u64,
    takeovers: u64,
}

#[derive(Template)]
#[template(path = "cluster.html")]
struct ClusterPage {
    frame: Frame,
    found: Cluster,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor) -> Response {
    shown(&session, look(&desk.api, &session).await)
}

async fn look(api: &Inside, session: &Session) -> Result<ClusterPage, Refused> {
    let found = api.get(session, "/v1/cluster").await?;
    Ok(ClusterPage { frame: Frame::of(Some(session), "cluster"), found })
}

impl Cluster {
    fn is_embedded(&self) -> bool {
        self.store == "sqlite"
    }

    /// What an accepted event survives, in words.
    fn survives(&self) -> &'static str {
        match self.durability.as_deref() {
            Some("standby") => "loss of the database server",
            Some("server") => "a crash of the database server",
            Some(_) => "a crash of a node only",
            None => "a crash and a power cut",
        }
    }
}
