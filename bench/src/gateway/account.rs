//! One account of the gateway: what a scenario makes in it, and what it asks of it.

use super::destination::{NewDestination, without_unknown_guard};
use crate::api::Api;
use crate::progress::progress;
use anyhow::Context as _;
use hyper::StatusCode;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Account {
    api: Api,
}

/// A source whose events all go to one destination.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    source: Source,
    destination_id: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Source {
    id: String,
    path_token: String,
}

impl Account {
    pub(crate) fn new(api: Api) -> Account {
        Account { api }
    }

    /// Makes a source, a destination, and the route between them.
    pub(crate) async fn wire(&self, wanted: &NewDestination) -> anyhow::Result<Wire> {
        let source = self.source(&wanted.name).await?;
        let destination_id = self.fan_out(&source, wanted).await?;
        Ok(Wire { source, destination_id })
    }

    pub(crate) async fn source(&self, name: &str) -> anyhow::Result<Source> {
        self.source_of(&json!({ "name": name })).await
    }

    /// One whose events say in `type` what they are.
    pub(crate) async fn typed_source(&self, name: &str) -> anyhow::Result<Source> {
        self.source_of(&json!({ "name": name, "event_type_from": { "json_pointer": "/type" } })).await
    }

    async fn source_of(&self, wanted: &Value) -> anyhow::Result<Source> {
        let source = self.create("sources", wanted).await?;
        Ok(Source { id: text(&source, "id")?, path_token: text(&source, "path_token")? })
    }

    /// Makes a destination that gets everything from a source; gives its id.
    pub(crate) async fn fan_out(&self, source: &Source, wanted: &NewDestination) -> anyhow::Result<String> {
        let destination = self.destination(wanted).await?;
        let destination_id = text(&destination, "id")?;
        self.route(source, &destination_id, wanted.priority).await?;
        Ok(destination_id)
    }

    /// A further source for the destination of a wire.
    pub(crate) async fn second_source(&self, wire: &Wire, name: &str) -> anyhow::Result<Wire> {
        let source = self.source(name).await?;
        self.route(&source, &wire.destination_id, 3).await?;
        Ok(Wire { source, destination_id: wire.destination_id.clone() })
    }

    /// Stops deliveries to a wire's destination; what is owed stays owed.
    pub(crate) async fn pause(&self, wire: &Wire) -> anyhow::Result<()> {
        self.api.patch(&wire.destination_path(), &json!({ "active": false })).await
    }

    pub(crate) async fn resume(&self, wire: &Wire) -> anyhow::Result<()> {
        self.api.patch(&wire.destination_path(), &json!({ "active": true })).await
    }

    /// What the gateway says is pending at a wire's destination.
    pub(crate) async fn pending(&self, wire: &Wire) -> anyhow::Result<u64> {
        let destination: Value = self.api.get(&wire.destination_path()).await?;
        destination["data"]["pending"].as_u64().context("the destination shows no pending")
    }

    /// How many shards each node has.
    pub(crate) async fn shards_by_node(&self) -> anyhow::Result<Vec<usize>> {
        let cluster: Value = self.api.get("/v1/cluster").await?;
        let nodes = cluster["data"]["nodes"].as_array().context("the cluster shows no nodes")?;
        Ok(nodes.iter().map(|node| node["shards"].as_array().map_or(0, Vec::len)).collect())
    }

    /// Of the newest 10,000 events, those with this status.
    pub(crate) async fn events_with(&self, status: &str) -> anyhow::Result<u64> {
        let page: Value = self.api.get(&format!("/v1/events?status={status}&limit=1")).await?;
        page["data"]["total"].as_u64().context("the list of events has no total")
    }

    /// Deliveries with one of these statuses, each counted once.
    pub(crate) async fn deliveries_with(&self, statuses: &[&str]) -> anyhow::Result<u64> {
        let stats: Value = self.api.get("/v1/stats").await?;
        let counted = stats["data"]["by_status"].as_array().context("the figures have no by_status")?;
        let wanted = counted.iter().filter(|one| statuses.iter().any(|status| one["status"] == *status));
        Ok(wanted.filter_map(|one| one["count"].as_u64()).sum())
    }

    pub(crate) async fn status(&self, path: &str) -> anyhow::Result<StatusCode> {
        self.api.status(path).await
    }

    pub(crate) async fn create(&self, what: &str, body: &Value) -> anyhow::Result<Value> {
        let mut answer = self.api.post(&format!("/v1/{what}"), body).await?;
        Ok(answer["data"].take())
    }

    async fn destination(&self, wanted: &NewDestination) -> anyhow::Result<Value> {
        let mut body = wanted.body();
        loop {
            let (status, mut answer) = self.api.post_and_see("/v1/destinations", &body).await?;
            if status.is_success() {
                return Ok(answer["data"].take());
            }
            // Ends: each turn takes a field out of the body.
            let Some(field) = without_unknown_guard(&mut body, &answer) else {
                anyhow::bail!("POST /v1/destinations answered {status}: {answer}");
            };
            progress!("  {}: this gateway has no {field}", wanted.name);
        }
    }

    async fn route(&self, source: &Source, destination_id: &str, priority: u8) -> anyhow::Result<()> {
        let route = json!({
            "source_id": source.id,
            "destination_id": destination_id,
            "event_type_pattern": "**",
            "priority": priority,
        });
        self.create("routes", &route).await.map(drop)
    }
}

impl Wire {
    pub(crate) fn path_token(&self) -> &str {
        &self.source.path_token
    }

    fn destination_path(&self) -> String {
        format!("/v1/destinations/{}", self.destination_id)
    }
}

impl Source {
    pub(crate) fn path_token(&self) -> &str {
        &self.path_token
    }
}

pub(super) fn text(object: &Value, field: &str) -> anyhow::Result<String> {
    let value =
        object[field].as_str().with_context(|| format!("the gateway's answer has no {field}: {object}"))?;
    Ok(value.to_owned())
}
