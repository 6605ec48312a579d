//! A source as a sender sees it: where its events come in.

use super::objects::Kind;
use super::text;
use crate::client::{Answer, Client};
use anyhow::ensure;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

pub(super) struct Door {
    /// The public URL, which some providers sign.
    pub(super) url: String,
    pub(super) provider: Option<String>,
    token: String,
}

impl Door {
    /// By its id or its name.
    pub(super) fn find(client: &Client, named: &str) -> anyhow::Result<Door> {
        let id = Kind::Source.find(client, named)?;
        let source = client.read(&format!("/v1/sources/{id}"), &[])?;
        let token = text(&source["path_token"]).to_owned();
        ensure!(
            !token.is_empty(),
            "this key cannot read the ingest URL of {named}; use a key with scope account"
        );
        let provider = source["provider"].as_str().map(str::to_owned);
        Ok(Door { url: shown_url(&source), provider, token })
    }

    /// To the gateway that is spoken to, whatever its public name.
    pub(super) fn send(&self, client: &Client, headers: &HeaderMap, body: Bytes) -> anyhow::Result<Answer> {
        client.send_without_key(&format!("/ingest/{}", self.token), headers, body)
    }
}

fn shown_url(source: &Value) -> String {
    text(&source["ingest_url"]).to_owned()
}
