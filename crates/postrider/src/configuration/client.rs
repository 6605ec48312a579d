//! Calls to a gateway, one connection each, by http or https.

use anyhow::{Context as _, anyhow, ensure};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue, IF_MATCH};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use url::{Host, Url};

/// Above what a gateway takes for the largest list.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// A list of all destinations of a large account is a few megabytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;

pub(super) struct Client {
    runtime: tokio::runtime::Runtime,
    url: Url,
    headers: HeaderMap,
    tls: Option<Arc<ClientConfig>>,
}

/// What a gateway answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) tag: Option<HeaderValue>,
    body: Value,
}

impl Answer {
    /// What a success holds, or the sentence of the refusal.
    pub(super) fn data(mut self) -> anyhow::Result<Value> {
        ensure!(self.status.is_success(), "{}", self.refusal());
        Ok(self.body["data"].take())
    }

    pub(super) fn refusal(&self) -> String {
        let sentence = self.body["error"].as_str().map(str::to_owned);
        sentence.unwrap_or_else(|| format!("The gateway answered {}.", self.status))
    }
}

impl Client {
    pub(super) fn new(url: &str, key: &str, account: Option<&str>) -> anyhow::Result<Self> {
        let url = Url::parse(url).with_context(|| format!("{url:?} is no URL"))?;
        ensure!(
            matches!(url.scheme(), "http" | "https"),
            "the URL of a gateway begins with http:// or https://"
        );
        let mut headers = HeaderMap::new();
        let mut bearer = HeaderValue::try_from(format!("Bearer {key}")).context("the key is no key")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(account) = account {
            let account = HeaderValue::try_from(account).context("the account is no id")?;
            headers.insert(HeaderName::from_static("postrider-account"), account);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let tls = (url.scheme() == "https").then(tls);
        Ok(Client { runtime: runtime.context("start the async runtime")?, url, headers, tls })
    }

    pub(super) fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.call(Method::GET, path, None, None)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        self.call(Method::POST, path, None, Some(body))
    }

    /// Changes only what still has this tag.
    pub(super) fn patch(
        &self,
        path: &str,
        tag: Option<&HeaderValue>,
        body: &Value,
    ) -> anyhow::Result<Answer> {
        self.call(Method::PATCH, path, tag, Some(body))
    }

    /// The same for a deletion.
    pub(super) fn delete(&self, path: &str, tag: Option<&HeaderValue>) -> anyhow::Result<Answer> {
        self.call(Method::DELETE, path, tag, None)
    }

    fn call(
        &self,
        method: Method,
        path: &str,
        tag: Option<&HeaderValue>,
        body: Option<&Value>,
    ) -> anyhow::Result<Answer> {
        let base = self.url.path().trim_end_matches('/');
        let mut request = Request::new(Full::new(body.map(Value::to_string).unwrap_or_default().into()));
        *request.uri_mut() = format!("{base}{path}").parse().context("the path of a call")?;
        *request.method_mut() = method;
        *request.headers_mut() = self.headers.clone();
        request
            .headers_mut()
            .insert(HOST, HeaderValue::try_from(self.authority()).context("the gateway's host")?);
        if let Some(tag) = tag {
            request.headers_mut().insert(IF_MATCH, tag.clone());
        }
        let exchange = async { tokio::time::timeout(CALL_TIMEOUT, self.exchange(request)).await };
        let answered = self.runtime.block_on(exchange);
        let answered = answered.unwrap_or_else(|_| Err(anyhow!("no answer within {CALL_TIMEOUT:?}")));
        answered.with_context(|| format!("the gateway at {} cannot be reached", self.authority()))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Answer> {
        let port = self.url.port_or_known_default().unwrap_or(80);
        let stream = match self.url.host().context("the URL has no host")? {
            Host::Domain(name) => TcpStream::connect((name, port)).await,
            Host::Ipv4(address) => TcpStream::connect((address, port)).await,
            Host::Ipv6(address) => TcpStream::connect((address, port)).await,
        }?;
        let Some(tls) = &self.tls else { return exchange(stream, request).await };
        let name = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(name).context("the host has no name for TLS")?;
        exchange(TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?, request).await
    }

    fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> anyhow::Result<Answer>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (status, tag) = (response.status(), response.headers().get(ETAG).cloned());
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(anyhow::Error::from_boxed)?.to_bytes();
    connection.abort();
    // What is no JSON comes from something that is no gateway, or from one that has nothing to say.
    Ok(Answer { status, tag, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// The roots that deliveries trust too.
fn tls() -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(&postrider_engine::send::tls_config());
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}
