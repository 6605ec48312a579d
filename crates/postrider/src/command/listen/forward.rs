//! One event to the program that gets it, with its answer.

use crate::client::Connection;
use crate::command::replay::{body, passed_on};
use crate::command::{moment, text};
use anyhow::Context as _;
use bytes::Bytes;
use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use postrider_engine::verify::{Incoming, Preset};
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// As for a delivery by default.
const PATIENCE: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The program that gets them.
pub(super) struct Local {
    connection: Connection,
    runtime: Runtime,
    /// Signs them; without one they go as they came.
    secret: Option<String>,
}

/// What came of one.
pub(super) struct Outcome {
    pub(super) answer: anyhow::Result<(u16, String)>,
    pub(super) latency_ms: u128,
}

impl Local {
    pub(super) fn new(url: &str, secret: Option<String>) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Local { connection: Connection::to(url)?, runtime, secret })
    }

    /// A program that does not answer is an outcome; an event that cannot be sent at all is our fault.
    pub(super) fn forward(&self, event: &Value) -> anyhow::Result<Outcome> {
        let body = body(event)?;
        let headers = self.headers(event, &body)?;
        let request = self.connection.request_itself(Method::POST, headers, body)?;
        let began = Instant::now();
        let answer = self.runtime.block_on(async {
            self.connection.open(request, PATIENCE).await?.rest(ANSWER_BYTES_MAX, PATIENCE).await
        });
        let answer = answer
            .map(|answer| (answer.status.as_u16(), String::from_utf8_lossy(&answer.body).trim().to_owned()));
        Ok(Outcome { answer, latency_ms: began.elapsed().as_millis() })
    }

    /// As it came, or as the gateway would sign it for a destination with this secret. Either way it has the id by which a
    /// receiver knows what it has seen: that of its sender, unless it is signed anew.
    fn headers(&self, event: &Value, body: &Bytes) -> anyhow::Result<HeaderMap> {
        let mut headers = passed_on(&event["headers"]);
        // A replay keeps the id of the event that it repeats, as in a delivery.
        let known = event["replay_of"].as_str().unwrap_or_else(|| text(&event["id"]));
        let id = HeaderValue::try_from(known).context("an id fits a header")?;
        let name = HeaderName::from_static("webhook-id");
        let Some(secret) = &self.secret else {
            headers.entry(name).or_insert(id);
            return Ok(headers);
        };
        headers.insert(name, id);
        let preset = Preset::by_name("standard").context("there is a preset for our own way of signing")?;
        let incoming = Incoming { method: "POST", url: "", headers: &headers, body };
        let signed = preset.sign(secret, &incoming, moment::now());
        headers.extend(signed.map_err(|why| anyhow::anyhow!("the secret {why}"))?);
        Ok(headers)
    }
}
