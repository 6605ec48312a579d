//! A small JSON client for the parent: it configures the gateway and asks the receiver.

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

const CALL_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Api {
    client: Client<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
    authorization: Option<HeaderValue>,
}

impl Api {
    pub(crate) fn new(address: SocketAddr, key: Option<&str>) -> anyhow::Result<Api> {
        let bearer = key.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))).transpose();
        let authorization = bearer.context("the key is no header value")?;
        Ok(Api { client: Client::builder(TokioExecutor::new()).build_http(), address, authorization })
    }

    /// The status alone; an error where there is no answer.
    pub(crate) async fn status(&self, path: &str) -> anyhow::Result<StatusCode> {
        let (status, _) = self.call(Method::GET, path, Bytes::new()).await?;
        Ok(status)
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let answer = self.successful(Method::GET, path, Bytes::new()).await?;
        serde_json::from_slice(&answer).with_context(|| format!("the answer of {path}"))
    }

    pub(crate) async fn post_empty(&self, path: &str) -> anyhow::Result<()> {
        self.successful(Method::POST, path, Bytes::new()).await.map(drop)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self.successful(Method::POST, path, Bytes::from(body.to_string())).await?;
        serde_json::from_slice(&answer).with_context(|| format!("the answer of {path}"))
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        self.successful(Method::PATCH, path, Bytes::from(body.to_string())).await.map(drop)
    }

    /// The answer whatever its status: for who can do something about a refusal.
    pub(crate) async fn post_and_see(&self, path: &str, body: &Value) -> anyhow::Result<(StatusCode, Value)> {
        let (status, answer) = self.call(Method::POST, path, Bytes::from(body.to_string())).await?;
        let answer = serde_json::from_slice(&answer).with_context(|| format!("the answer of {path}"))?;
        Ok((status, answer))
    }

    async fn successful(&self, method: Method, path: &str, body: Bytes) -> anyhow::Result<Bytes> {
        let (status, answer) = self.call(method.clone(), path, body).await?;
        let said = || String::from_utf8_lossy(&answer).into_owned();
        anyhow::ensure!(status.is_success(), "{method} {path} answered {status}: {}", said());
        Ok(answer)
    }

    async fn call(&self, method: Method, path: &str, body: Bytes) -> anyhow::Result<(StatusCode, Bytes)> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = format!("http://{}{path}", self.address).parse().context("the call's URL")?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(bearer) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, bearer.clone());
        }
        let exchange = async {
            let response = self.client.request(request).await.with_context(|| format!("call {path}"))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(anyhow::Error::from_boxed).with_context(|| format!("read {path}"))?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(CALL_TIMEOUT, exchange)
            .await
            .with_context(|| format!("{path} did not answer"))?
    }
}
