//! Makes connections: resolves, checks every address it dials, and speaks TLS where the URL says so.

use super::address_guard::{AddressGuard, Refusal};
use super::allowance::{Allowance, Metered};
use super::certificates::Certificates;
use super::connection::Connection;
use super::http1::Http1;
use super::http2::Http2;
use super::receiver_socket::ReceiverSocket;
use super::resolve::{Found, Names, Resolve, SystemResolver, no_open_address};
use super::shortage::{Failure, Shortage};
use super::target::{DestinationUrl, Ready};
use crate::clock::wall;
use postrider_store::{ErrorKind, Problem, Timing};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

/// Shared by all workers.
pub struct Connector {
    guard: AddressGuard,
    names: Names,
    tls: Arc<ClientConfig>,
    certificates: Certificates,
}

impl Connector {
    /// With the operator's address rule and these roots of trust. Names are the system's.
    pub fn new(guard: AddressGuard, tls: Arc<ClientConfig>) -> Self {
        let names = Names::new(Arc::new(SystemResolver));
        Connector { guard, names, tls, certificates: Certificates::default() }
    }

    /// Has names looked up by somebody else.
    pub fn resolving_by(self, resolver: Arc<dyn Resolve>) -> Self {
        Connector { names: Names::new(resolver), ..self }
    }

    /// The operator's address rule.
    pub fn guard(&self) -> &AddressGuard {
        &self.guard
    }

    /// When the certificates of receivers end.
    pub(crate) fn certificates(&self) -> &Certificates {
        &self.certificates
    }

    /// `left` is what the deadline of the attempt leaves; it is cut off there by whoever calls this.
    pub(crate) async fn connect(
        &self,
        ready: &Ready,
        left: Duration,
        timing: &mut Timing,
    ) -> Result<Connection, Failure> {
        let (url, until) = (&ready.url, tokio::time::Instant::now() + left);
        self.guard.check_scheme(url).map_err(|refusal| refused(url, refusal))?;
        let started = Instant::now();
        let found = self.resolve(ready).await?;
        let took = started.elapsed();
        let open = self.open_addresses(url, &found).await?;
        // Of a name with an open address alone: of others it would tell that they exist.
        timing.dns = url.literal_address().is_none().then_some(took);
        let started = Instant::now();
        let stream = self.dial(url, &open, until).await?;
        timing.connect = Some(started.elapsed());
        let allowance = Allowance::new();
        let stream = Metered::new(stream, &allowance);
        if !url.tls {
            return Ok(Connection::Http1(Http1::new(stream, allowance)));
        }
        let started = Instant::now();
        let stream = self.secure(ready, stream).await?;
        timing.tls = Some(started.elapsed());
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            let connection = Http2::new(stream, allowance).await.map_err(|error| broken_handshake(&error))?;
            Ok(Connection::Http2(connection))
        } else {
            Ok(Connection::Http1(Http1::new(stream, allowance)))
        }
    }

    async fn resolve(&self, ready: &Ready) -> Result<Found, Failure> {
        let literal =
            |address| Found { addresses: [address].into(), refused_at: tokio::time::Instant::now() };
        match &ready.url.host {
            Host::Ipv4(address) => Ok(literal(IpAddr::from(*address))),
            Host::Ipv6(address) => Ok(literal(IpAddr::from(*address))),
            Host::Domain(name) => self.names.find(ready.account, name).await,
        }
    }

    /// Those that may be dialled. Where there is none, a name that must not be known to exist is refused as late as one
    /// that does not.
    async fn open_addresses(&self, url: &DestinationUrl, found: &Found) -> Result<Vec<SocketAddr>, Failure> {
        let (mut open, mut closed) = (Vec::new(), None);
        for address in found.addresses.iter().map(|address| SocketAddr::new(*address, url.port)) {
            match self.guard.check(address) {
                Ok(()) => open.push(address),
                Err(refusal) => {
                    closed.get_or_insert(refusal);
                }
            }
        }
        match closed {
            Some(refusal) if open.is_empty() => {
                if let Host::Domain(name) = &url.host {
                    self.names.forget(name);
                }
                if is_secret(&url.host) {
                    tokio::time::sleep_until(found.refused_at).await;
                }
                Err(refused(url, refusal).into())
            }
            _ => Ok(open),
        }
    }

    async fn dial(
        &self,
        url: &DestinationUrl,
        open: &[SocketAddr],
        until: tokio::time::Instant,
    ) -> Result<ReceiverSocket, Failure> {
        let mut doubt = Doubt { names: &self.names, host: Some(&url.host) };
        let (mut last, mut short) = (None, None);
        for (address, still_open) in open.iter().zip((1..=open.len()).rev()) {
            match reach(*address, share(until, still_open)).await {
                Ok(stream) => {
                    doubt.host = None;
                    return Ok(stream);
                }
                Err(error) => {
                    short = short.or(Shortage::of_connect(&error, *address));
                    last = Some(problem(ErrorKind::Connect, format!("No connection to {address}: {error}.")));
                }
            }
        }
        // Whether the receiver is there is not known while one of its addresses was not tried.
        if let Some(short) = short {
            return Err(Failure::Shortage(short));
        }
        Err(last.unwrap_or_else(|| no_open_address(&url.host.to_string())).into())
    }

    async fn secure(
        &self,
        ready: &Ready,
        stream: Metered<ReceiverSocket>,
    ) -> Result<TlsStream<Metered<ReceiverSocket>>, Failure> {
        let url = &ready.url;
        let name = match &url.host {
            Host::Domain(name) => ServerName::try_from(name.clone())
                .map_err(|_| problem(ErrorKind::Tls, format!("{name} cannot be a TLS server's name.")))?,
            Host::Ipv4(address) => ServerName::from(IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::from(*address)),
        };
        let tls = ready.tls.as_ref().map_or_else(|| Arc::clone(&self.tls), |own| own.config(&self.tls));
        let connected = TlsConnector::from(tls).connect(name, stream).await;
        // By the wall's clock, as TLS judges them.
        let (key, now) = (ready.pool_key, wall());
        match &connected {
            Ok(stream) => {
                let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
                self.certificates.note_shown(key, shown, now);
            }
            Err(error) => self.certificates.note_refused(key, error, now),
        }
        connected.map_err(|error| match Shortage::of(&error) {
            Some(shortage) => Failure::Shortage(shortage),
            None => problem(ErrorKind::Tls, format!("TLS with {} failed: {error}.", url.host)).into(),
        })
    }
}

/// What is remembered of a name is in doubt until one of its addresses was reached. It is forgotten otherwise, also when
/// the deadline of the attempt comes first.
struct Doubt<'a> {
    names: &'a Names,
    host: Option<&'a Host<String>>,
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(Host::Domain(name)) = self.host {
            self.names.forget(name);
        }
    }
}

/// How long an address is waited for: its part of what is left, so that one that swallows everything leaves time for
/// those behind it. The last one may take all of it.
fn share(until: tokio::time::Instant, still_open: usize) -> Option<Duration> {
    let left = until.saturating_duration_since(tokio::time::Instant::now());
    u32::try_from(still_open).ok().filter(|still_open| *still_open > 1).map(|still_open| left / still_open)
}

async fn reach(address: SocketAddr, within: Option<Duration>) -> io::Result<ReceiverSocket> {
    let connect = ReceiverSocket::connect(address);
    let Some(within) = within else { return connect.await };
    let late = |_elapsed| io::Error::other(format!("no response within {:.1} s", within.as_secs_f64()));
    tokio::time::timeout(within, connect).await.map_err(late)?
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

/// Everybody knows where `localhost` leads. Of any other name the answer does not show whether and where it exists.
fn is_secret(host: &Host<String>) -> bool {
    matches!(host, Host::Domain(name) if name != "localhost")
}

fn refused(url: &DestinationUrl, refusal: Refusal) -> Problem {
    if is_secret(&url.host) && refusal != Refusal::Plain {
        tracing::debug!(host = %url.host, ?refusal, "the receiver's name resolves to an address that is not allowed");
        return no_open_address(&url.host.to_string());
    }
    let sentence = match refusal {
        Refusal::Plain => {
            "The URL is plain http, and this gateway sends to https alone (--https-only).".to_owned()
        }
        Refusal::Closed(address) => format!(
            "The address {address} of {} is not open to deliveries; an operator can open its range with --egress-allow.",
            url.host
        ),
        Refusal::Own(address) => {
            format!(
                "The address {address} of {} is this gateway itself; nothing is sent in a circle.",
                url.host
            )
        }
    };
    problem(ErrorKind::AddressRefused, sentence)
}

fn broken_handshake(error: &hyper::Error) -> Failure {
    match error.source().and_then(|cause| cause.downcast_ref()).and_then(Shortage::of) {
        Some(shortage) => Failure::Shortage(shortage),
        None => {
            let sentence = format!("The connection broke before the request was sent: {error}.");
            problem(ErrorKind::Disconnected, sentence).into()
        }
    }
}

pub(crate) fn problem(kind: ErrorKind, sentence: String) -> Problem {
    Problem { kind, sentence }
}

#[cfg(test)]
mod tests;
