//! One HTTP exchange with any server, on a connection of its own, by http or https.

use anyhow::{Context as _, anyhow, ensure};
use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use url::{Host, Url};

/// Where exchanges go.
pub(crate) struct Connection {
    url: Url,
    tls: Option<Arc<ClientConfig>>,
}

/// An answer in full.
pub(crate) struct Message {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An answer whose body still comes.
pub(crate) struct Pieces {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    /// Drives the exchange; ends with it.
    driver: tokio::task::JoinHandle<Result<(), hyper::Error>>,
}

impl Connection {
    pub(crate) fn to(url: &str) -> anyhow::Result<Self> {
        let url = Url::parse(url).with_context(|| format!("{url:?} is not a URL"))?;
        ensure!(matches!(url.scheme(), "http" | "https"), "a URL begins with http:// or https://");
        let tls = (url.scheme() == "https").then(tls);
        Ok(Connection { url, tls })
    }

    /// A request for a path below the URL.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<Request<Full<Bytes>>> {
        let base = self.url.path().trim_end_matches('/');
        self.request_for(&format!("{base}{path}"), method, headers, body)
    }

    /// A request for the URL as it is.
    pub(crate) fn request_itself(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<Request<Full<Bytes>>> {
        let query = self.url.query().map(|query| format!("?{query}")).unwrap_or_default();
        self.request_for(&format!("{}{query}", self.url.path()), method, headers, body)
    }

    fn request_for(
        &self,
        target: &str,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<Request<Full<Bytes>>> {
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = target.parse().context("the path of a call")?;
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        let host = HeaderValue::try_from(self.authority()).context("the host of the URL")?;
        request.headers_mut().insert(HOST, host);
        Ok(request)
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn open(
        &self,
        request: Request<Full<Bytes>>,
        patience: Duration,
    ) -> anyhow::Result<Pieces> {
        within(patience, self.opened(request)).await
    }

    async fn opened(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Pieces> {
        let port = self.url.port_or_known_default().unwrap_or(80);
        let stream = match self.url.host().context("the URL has no host")? {
            Host::Domain(name) => TcpStream::connect((name, port)).await,
            Host::Ipv4(address) => TcpStream::connect((address, port)).await,
            Host::Ipv6(address) => TcpStream::connect((address, port)).await,
        }?;
        let Some(tls) = &self.tls else { return open_on(stream, request).await };
        let name = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(name).context("the host has no name for TLS")?;
        open_on(TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?, request).await
    }

    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

impl Pieces {
    /// `None` at the end.
    pub(crate) async fn next(&mut self, patience: Duration) -> anyhow::Result<Option<Bytes>> {
        loop {
            let frame = within(patience, async { Ok(self.body.frame().await.transpose()?) }).await?;
            match frame.map(hyper::body::Frame::into_data) {
                None => return Ok(None),
                Some(Ok(data)) => return Ok(Some(data)),
                // Trailers say nothing here.
                Some(Err(_)) => {}
            }
        }
    }

    /// All of it, up to so many bytes.
    pub(crate) async fn rest(mut self, bytes_max: usize, patience: Duration) -> anyhow::Result<Message> {
        let mut body = Vec::new();
        while let Some(piece) = self.next(patience).await? {
            ensure!(body.len() + piece.len() <= bytes_max, "the response is larger than {bytes_max} bytes");
            body.extend_from_slice(&piece);
        }
        Ok(Message { status: self.status, headers: std::mem::take(&mut self.headers), body: body.into() })
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

async fn within<T>(patience: Duration, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let done = tokio::time::timeout(patience, work).await;
    done.unwrap_or_else(|_| Err(anyhow!("no response within {patience:?}")))
}

async fn open_on<S>(stream: S, request: Request<Full<Bytes>>) -> anyhow::Result<Pieces>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driver = tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok(Pieces { status: head.status, headers: head.headers, body, driver })
}

/// The roots that deliveries trust too.
fn tls() -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(&postrider_engine::send::tls_config());
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}
