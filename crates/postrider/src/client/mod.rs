//! Calls to a gateway by its API, as any client makes them: what every command but `serve` and `bench` is built on.

mod args;
mod connection;
mod failure;
mod frames;
mod profile;

pub(crate) use self::args::{Access, GatewayArgs};
pub(crate) use self::connection::{Connection, Message};
pub(crate) use self::failure::{Unreachable, is_missing, is_passing, is_unavailable};
pub(crate) use self::frames::Frames;

use self::failure::{CutOff, Refused};
use anyhow::Context as _;
use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RETRY_AFTER,
};
use http::{Method, StatusCode};
use serde_json::Value;
use std::time::{Duration, SystemTime};
use url::form_urlencoded;

/// Above what a gateway takes for the largest list.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// For a call that works on all that match, however many these are.
const LONG_CALL_TIMEOUT: Duration = Duration::from_secs(3600);
/// A list of all destinations of a large account is a few megabytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;

pub(crate) struct Client {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
    headers: HeaderMap,
}

/// What a gateway answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) tag: Option<HeaderValue>,
    /// When it was answered, by the gateway's own clock.
    pub(crate) date: Option<SystemTime>,
    retry_after: Option<Duration>,
    body: Value,
}

impl Answer {
    fn of(message: &Message) -> Self {
        let tag = message.headers.get(ETAG).cloned();
        let text = |name: HeaderName| message.headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = text(RETRY_AFTER).and_then(|text| text.parse().ok()).map(Duration::from_secs);
        // What is no JSON comes from something that is no gateway, or from one that has nothing to say.
        Answer {
            status: message.status,
            tag,
            date: text(DATE).and_then(|text| httpdate::parse_http_date(text).ok()),
            retry_after,
            body: serde_json::from_slice(&message.body).unwrap_or_default(),
        }
    }

    /// What a success holds, or the sentence of the refusal.
    pub(crate) fn data(mut self) -> anyhow::Result<Value> {
        if self.status.is_success() { Ok(self.body["data"].take()) } else { Err(self.refused().into()) }
    }

    /// When to come back, if it said so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    fn refused(&self) -> Refused {
        Refused { status: self.status, sentence: self.refusal() }
    }

    /// Why it is not ready, as `/readyz` says it.
    pub(crate) fn reason(&self) -> String {
        let reason = self.body["reason"].as_str().map(crate::terminal::clean);
        reason.map_or_else(|| self.refusal(), |reason| format!("{reason}."))
    }

    pub(crate) fn refusal(&self) -> String {
        let sentence = self.body["error"].as_str().map(crate::terminal::clean);
        let sentence = sentence.unwrap_or_else(|| format!("The gateway responded {}.", self.status));
        // A signature that does not hold is a 401 too, and no matter of keys.
        if self.body["code"] == "unauthorized" {
            return format!("{sentence} (set the key with --key, POSTRIDER_KEY or a profile)");
        }
        sentence
    }
}

impl Client {
    pub(crate) fn new(url: &str, key: &str, account: Option<&str>) -> anyhow::Result<Self> {
        let mut headers = HeaderMap::new();
        let mut bearer =
            HeaderValue::try_from(format!("Bearer {key}")).context("the key is not valid in a header")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(account) = account {
            let account = HeaderValue::try_from(account).context("the account is not an ID")?;
            headers.insert(HeaderName::from_static("postrider-account"), account);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("start the async runtime")?;
        Ok(Client { runtime, connection: Connection::to(url)?, headers })
    }

    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.call(Method::GET, path, None, None)
    }

    /// A list or another reading call with parameters.
    pub(crate) fn read(&self, path: &str, parameters: &[(&str, String)]) -> anyhow::Result<Value> {
        self.get(&with_parameters(path, parameters))?.data()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        self.call(Method::POST, path, None, Some(body))
    }

    /// One that works on all that match, and answers when it is through.
    pub(crate) fn post_at_length(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        let body = body.to_string().into();
        self.exchange_within(LONG_CALL_TIMEOUT, Method::POST, path, self.headers.clone(), body)
    }

    /// Changes only what still has this tag.
    pub(crate) fn patch(
        &self,
        path: &str,
        tag: Option<&HeaderValue>,
        body: &Value,
    ) -> anyhow::Result<Answer> {
        self.call(Method::PATCH, path, tag, Some(body))
    }

    /// The same for a deletion.
    pub(crate) fn delete(&self, path: &str, tag: Option<&HeaderValue>) -> anyhow::Result<Answer> {
        self.call(Method::DELETE, path, tag, None)
    }

    /// Bytes as they are, with these headers over the usual ones.
    pub(crate) fn send(&self, path: &str, headers: &HeaderMap, body: Bytes) -> anyhow::Result<Answer> {
        let mut all = self.headers.clone();
        all.extend(headers.clone());
        self.exchange(Method::POST, path, all, body)
    }

    /// As anybody sends them who knows where to.
    pub(crate) fn send_without_key(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<Answer> {
        self.exchange(Method::POST, path, headers.clone(), body)
    }

    /// Hands on what is answered piece by piece, however long it is. Each piece has the time of a call.
    pub(crate) fn stream(
        &self,
        path: &str,
        parameters: &[(&str, String)],
        mut take: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let path = with_parameters(path, parameters);
        let request = self.connection.request(Method::GET, &path, self.headers.clone(), Bytes::new())?;
        let refused = self.runtime.block_on(async {
            let mut pieces =
                self.connection.open(request, CALL_TIMEOUT).await.with_context(|| self.unreachable())?;
            if !pieces.status.is_success() {
                return Ok(Some(pieces.rest(ANSWER_BYTES_MAX, CALL_TIMEOUT).await.context(CutOff)?));
            }
            while let Some(piece) = pieces.next(CALL_TIMEOUT).await.context(CutOff)? {
                take(&piece)?;
            }
            anyhow::Ok(None)
        })?;
        refused.map_or(Ok(()), |message| Err(Answer::of(&message).refused().into()))
    }

    fn call(
        &self,
        method: Method,
        path: &str,
        tag: Option<&HeaderValue>,
        body: Option<&Value>,
    ) -> anyhow::Result<Answer> {
        let mut headers = self.headers.clone();
        if let Some(tag) = tag {
            headers.insert(IF_MATCH, tag.clone());
        }
        self.exchange(method, path, headers, body.map(Value::to_string).unwrap_or_default().into())
    }

    fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<Answer> {
        self.exchange_within(CALL_TIMEOUT, method, path, headers, body)
    }

    fn exchange_within(
        &self,
        timeout: Duration,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<Answer> {
        let request = self.connection.request(method, path, headers, body)?;
        let answered = self.runtime.block_on(async {
            self.connection.open(request, timeout).await?.rest(ANSWER_BYTES_MAX, CALL_TIMEOUT).await
        });
        Ok(Answer::of(&answered.with_context(|| self.unreachable())?))
    }

    fn unreachable(&self) -> Unreachable {
        Unreachable(self.connection.authority())
    }
}

fn with_parameters(path: &str, parameters: &[(&str, String)]) -> String {
    if parameters.is_empty() {
        return path.to_owned();
    }
    let query: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    format!("{path}?{query}")
}
