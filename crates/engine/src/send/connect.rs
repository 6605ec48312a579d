//! Makes connections: resolves, checks every address it dials, and speaks TLS where the URL says so.

use super::address_guard::AddressGuard;
use super::bounded_stream::BoundedStream;
use super::pool::{Connection, Sender};
use super::target::DestinationUrl;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use postrider_store::{ErrorKind, Problem, Timing};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Host;

/// A name with more addresses than this is tried at the first of them only.
const ADDRESSES_MAX: usize = 8;

/// Shared by all workers.
pub struct Connector {
    guard: AddressGuard,
    tls: Arc<ClientConfig>,
}

impl Connector {
    /// With the operator's address rule and these roots of trust.
    pub fn new(guard: AddressGuard, tls: Arc<ClientConfig>) -> Self {
        Connector { guard, tls }
    }

    /// The operator's address rule.
    pub fn guard(&self) -> &AddressGuard {
        &self.guard
    }

    pub(crate) async fn connect(
        &self,
        url: &DestinationUrl,
        timing: &mut Timing,
    ) -> Result<Connection, Problem> {
        let started = Instant::now();
        let addresses = resolve(url).await?;
        if url.literal_address().is_none() {
            timing.dns = Some(started.elapsed());
        }
        let started = Instant::now();
        let stream = self.dial(url, &addresses).await?;
        timing.connect = Some(started.elapsed());
        if !url.tls {
            return http1(stream).await;
        }
        let started = Instant::now();
        let stream = self.secure(url, stream).await?;
        timing.tls = Some(started.elapsed());
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            http2(stream).await
        } else {
            http1(stream).await
        }
    }

    async fn dial(&self, url: &DestinationUrl, addresses: &[SocketAddr]) -> Result<TcpStream, Problem> {
        let mut last = None;
        for address in addresses {
            if !self.guard.allows(address.ip()) {
                last.get_or_insert(refused(url, address.ip()));
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    // Requests are written whole; waiting to fill a packet would only add latency.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(error) => {
                    last = Some(problem(ErrorKind::Connect, format!("No connection to {address}: {error}.")));
                }
            }
        }
        Err(last.unwrap_or_else(|| problem(ErrorKind::Dns, format!("The host {} has no address.", url.host))))
    }

    async fn secure(
        &self,
        url: &DestinationUrl,
        stream: TcpStream,
    ) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Problem> {
        let name = match &url.host {
            Host::Domain(name) => ServerName::try_from(name.clone())
                .map_err(|_| problem(ErrorKind::Tls, format!("{name} cannot be a TLS server's name.")))?,
            Host::Ipv4(address) => ServerName::from(IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::from(*address)),
        };
        let connected = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await;
        connected.map_err(|error| problem(ErrorKind::Tls, format!("TLS with {} failed: {error}.", url.host)))
    }
}

/// Trusts the system's roots, or the ones built in where the system has none.
pub fn tls_config() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

async fn resolve(url: &DestinationUrl) -> Result<Vec<SocketAddr>, Problem> {
    if let Some(address) = url.literal_address() {
        return Ok(vec![SocketAddr::new(address, url.port)]);
    }
    let host = url.host.to_string();
    let found = tokio::net::lookup_host((host.as_str(), url.port)).await;
    let found =
        found.map_err(|error| problem(ErrorKind::Dns, format!("The host {host} was not found: {error}.")))?;
    Ok(found.take(ADDRESSES_MAX).collect())
}

async fn http1<S>(stream: S) -> Result<Connection, Problem>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let shaken =
        hyper::client::conn::http1::Builder::new().handshake(TokioIo::new(BoundedStream::new(stream))).await;
    let (sender, connection) = shaken.map_err(|error| broken_handshake(&error))?;
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok(Connection::new(Sender::Http1(sender), task.abort_handle()))
}

async fn http2<S>(stream: S) -> Result<Connection, Problem>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).max_header_list_size(64 * 1024);
    let (sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(|error| broken_handshake(&error))?;
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok(Connection::new(Sender::Http2(sender), task.abort_handle()))
}

fn refused(url: &DestinationUrl, address: IpAddr) -> Problem {
    let sentence = format!(
        "The address {address} of {} is not open to deliveries; an operator can open its range with --egress-allow.",
        url.host
    );
    problem(ErrorKind::AddressRefused, sentence)
}

fn broken_handshake(error: &hyper::Error) -> Problem {
    problem(ErrorKind::Disconnected, format!("The connection broke before the request was sent: {error}."))
}

pub(crate) fn problem(kind: ErrorKind, sentence: String) -> Problem {
    Problem { kind, sentence }
}
