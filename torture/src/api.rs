//! The API as an operator of a run uses it: any node will do, and one that does not answer is asked again.

use crate::rig::client::{Client, request};
use anyhow::Context as _;
use serde_json::Value;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A key, and the nodes that know it.
#[derive(Clone, Debug)]
pub struct Api {
    /// Where gateways listen.
    pub addresses: Vec<SocketAddr>,
    /// Sent as a bearer token.
    pub key: String,
}

/// A node that is frozen answers nobody.
const DEADLINE: Duration = Duration::from_secs(3);
/// Longer than any fault lasts.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(50);

impl Api {
    /// The same nodes for the holder of another key.
    pub fn with_key(&self, key: &str) -> Api {
        Api { addresses: self.addresses.clone(), key: key.to_owned() }
    }

    /// Calls until a node answers with a success, and gives its `data`.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let began = Instant::now();
        let mut turns = self.addresses.iter().cycle();
        loop {
            let address = turns.next().context("there is a node")?;
            match self.ask(*address, method, path, body) {
                Ok((200..=299, mut answer)) => return Ok(answer["data"].take()),
                Ok((status @ 400..=499, answer)) if status != 429 => {
                    anyhow::bail!("{method} {path} was answered {status}: {answer}")
                }
                other => anyhow::ensure!(
                    began.elapsed() < PATIENCE,
                    "{method} {path} was not answered within {PATIENCE:?}; the last was {other:?}"
                ),
            }
            sleep(AGAIN);
        }
    }

    /// A text of what a call gives.
    pub fn text(&self, method: &str, path: &str, body: &Value, field: &str) -> anyhow::Result<String> {
        let answer = self.call(method, path, body)?;
        let text = answer[field].as_str().with_context(|| format!("{method} {path} gives no {field}"))?;
        Ok(text.to_owned())
    }

    /// Whether a node can take events.
    pub fn is_ready(&self, address: SocketAddr) -> bool {
        self.ask(address, "GET", "/readyz", &Value::Null).is_ok_and(|(status, _)| status == 200)
    }

    fn ask(
        &self,
        address: SocketAddr,
        method: &str,
        path: &str,
        body: &Value,
    ) -> anyhow::Result<(u16, Value)> {
        let bearer = format!("Bearer {}", self.key);
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let bytes = request(method, path, &[("authorization", &bearer)], body.as_bytes());
        let message = Client::connect(address, DEADLINE)?.exchange(&bytes)?;
        let status = message.first_line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let answer = serde_json::from_slice(&message.body).unwrap_or(Value::Null);
        Ok((status.context("not an answer")?, answer))
    }
}
