//! One request to a collector, by HTTP or by gRPC, on a connection of its own: there are a few a second at most.

use crate::config::{OtlpProtocol, TracesTo};
use anyhow::{Context, anyhow, ensure};
use bytes::buf::Chain;
use bytes::{Buf, Bytes};
use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, TE};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use postrider_engine::ContainedTasks;
use postrider_store::containment::contained;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use url::{Host, Url};

/// A collector that takes longer gets no more of this batch.
const PATIENCE: Duration = Duration::from_secs(5);
/// What of an answer is read: it says at most how many were not taken.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

pub(super) struct Collector {
    url: Url,
    protocol: OtlpProtocol,
    tls: Option<Arc<ClientConfig>>,
}

/// What stands before the spans, and the spans where they are.
type Parts = Chain<Bytes, Bytes>;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Collector {
    pub(super) fn new(to: &TracesTo) -> anyhow::Result<Self> {
        let url = Url::parse(&to.url).context("the settings have checked the URL")?;
        let spoken = match to.protocol {
            OtlpProtocol::Http => b"http/1.1".to_vec(),
            OtlpProtocol::Grpc => b"h2".to_vec(),
        };
        let tls = (url.scheme() == "https").then(|| {
            let mut config = ClientConfig::clone(&postrider_engine::send::tls_config());
            config.alpn_protocols = vec![spoken];
            Arc::new(config)
        });
        Ok(Collector { url, protocol: to.protocol, tls })
    }

    /// Sends a request, which the collector must take.
    pub(super) async fn export(&self, head: Vec<u8>, spans: Bytes) -> anyhow::Result<()> {
        let sent = async {
            match self.protocol {
                OtlpProtocol::Http => self.by_http(Bytes::from(head).chain(spans)).await,
                OtlpProtocol::Grpc => self.by_grpc(&head, spans).await,
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, sent).await;
        in_time.unwrap_or_else(|_| Err(anyhow!("no answer within {PATIENCE:?}")))
    }

    async fn by_http(&self, body: Parts) -> anyhow::Result<()> {
        let path = format!("{}/v1/traces", self.url.path().trim_end_matches('/'));
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = path.parse().context("the path of the collector")?;
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::try_from(self.authority()).context("the collector's host")?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        let io = TokioIo::new(self.connect().await?);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await?;
        let driver = tokio::spawn(contained(connection));
        let answer = sender.send_request(request).await?;
        driver.abort();
        ensure!(answer.status().is_success(), "it answered {}", answer.status());
        Ok(())
    }

    async fn by_grpc(&self, head: &[u8], spans: Bytes) -> anyhow::Result<()> {
        // Not compressed, and its length.
        let mut start = vec![0];
        start
            .extend(u32::try_from(head.len() + spans.len()).context("the batch is too large")?.to_be_bytes());
        start.extend(head);
        let body: Parts = Bytes::from(start).chain(spans);
        let base = self.url.path().trim_end_matches('/');
        let path = format!("{base}/opentelemetry.proto.collector.trace.v1.TraceService/Export");
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        let whole = Uri::builder().scheme(self.url.scheme()).authority(self.authority());
        *request.uri_mut() = whole.path_and_query(path).build().context("the address of the collector")?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        let io = TokioIo::new(self.connect().await?);
        let (mut sender, connection) = hyper::client::conn::http2::handshake(ContainedTasks, io).await?;
        let driver = tokio::spawn(contained(connection));
        let answer = sender.send_request(request).await?;
        let checked = grpc_status(answer).await;
        driver.abort();
        checked
    }

    async fn connect(&self) -> anyhow::Result<Box<dyn Stream>> {
        let port = self.url.port_or_known_default().unwrap_or(80);
        let stream = match self.url.host().context("the URL has no host")? {
            Host::Domain(name) => TcpStream::connect((name, port)).await,
            Host::Ipv4(address) => TcpStream::connect((address, port)).await,
            Host::Ipv6(address) => TcpStream::connect((address, port)).await,
        }?;
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let name = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(name).context("the host has no name for TLS")?;
        Ok(Box::new(TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?))
    }

    fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

/// What a gRPC call came to: it stands behind the answer, or before it when there is none.
async fn grpc_status(answer: http::Response<Incoming>) -> anyhow::Result<()> {
    ensure!(answer.status().is_success(), "it answered {}", answer.status());
    let (head, body) = answer.into_parts();
    let read = Limited::new(body, ANSWER_BYTES_MAX).collect().await.map_err(anyhow::Error::from_boxed)?;
    let status = |headers: &HeaderMap| headers.get("grpc-status").cloned();
    let status = read.trailers().and_then(status).or_else(|| status(&head.headers));
    match status.as_ref().map(HeaderValue::as_bytes) {
        Some(b"0") => Ok(()),
        Some(code) => Err(anyhow!("it answered grpc-status {}", String::from_utf8_lossy(code))),
        None => Err(anyhow!("it answered without a grpc-status")),
    }
}
