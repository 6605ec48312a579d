//! A receiver behind TLS, with certificates made for the test.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Response, Uri, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What comes to this path is answered before it is read.
pub(crate) const ANSWERED_FIRST: &str = "/answered-first";
/// What comes to this one is answered and not read.
pub(crate) const NEVER_READ: &str = "/never-read";

/// Somebody who signs certificates.
pub(crate) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A server's certificate with its key.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Authority { certificate, issuer: Issuer::new(params, key) }
    }

    /// Its certificate as people hand it around.
    pub(crate) fn pem(&self) -> String {
        pem("CERTIFICATE", self.certificate.der())
    }

    pub(crate) fn root(&self) -> CertificateDer<'static> {
        self.certificate.der().clone()
    }

    /// A certificate for this host, changed as the test likes.
    pub(crate) fn sign(&self, host: &str, adjust: impl FnOnce(&mut CertificateParams)) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        adjust(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { certificate: certificate.der().clone(), key }
    }
}

impl Identity {
    /// Certificate and key as people hand them around.
    pub(crate) fn pem(&self) -> (String, String) {
        (pem("CERTIFICATE", &self.certificate), pem("PRIVATE KEY", &self.key.serialize_der()))
    }

    /// For servers with this certificate that speak these protocols.
    pub(crate) fn acceptor(self, protocols: &[&str], clients: Arc<dyn ClientCertVerifier>) -> TlsAcceptor {
        let key = PrivatePkcs8KeyDer::from(self.key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![self.certificate], key.into())
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// A certificate for this host that nobody has signed.
    pub(crate) fn self_signed(host: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([host.to_owned()]).unwrap().self_signed(&key).unwrap();
        Identity { certificate: certificate.der().clone(), key }
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// What a gateway trusts, with both protocols offered as in production.
pub(crate) fn trusting(roots: &[CertificateDer<'static>]) -> Arc<ClientConfig> {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(roots.iter().cloned());
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

/// A request as the server's HTTP library understood it.
#[derive(Clone, Debug)]
pub(crate) struct TlsRequest {
    pub(crate) version: Version,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Default)]
struct Log {
    connections: AtomicUsize,
    refused: AtomicUsize,
    requests: Mutex<Vec<TlsRequest>>,
}

pub(crate) struct TlsReceiver {
    address: SocketAddr,
    log: Arc<Log>,
}

impl TlsReceiver {
    /// Answers every request with 200, over the first protocol of these that the gateway speaks.
    pub(crate) async fn start(identity: Identity, protocols: &[&str]) -> Self {
        Self::start_checking(identity, protocols, WebPkiClientVerifier::no_client_auth()).await
    }

    /// The same, for clients alone that show a certificate of this authority.
    pub(crate) async fn start_demanding(identity: Identity, authority: &Authority) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.root()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let demand = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Self::start_checking(identity, &["h2", "http/1.1"], demand.unwrap()).await
    }

    async fn start_checking(
        identity: Identity,
        protocols: &[&str],
        clients: Arc<dyn ClientCertVerifier>,
    ) -> Self {
        let acceptor = identity.acceptor(protocols, clients);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Log::default());
        let for_connections = Arc::clone(&log);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(acceptor.clone(), stream, Arc::clone(&for_connections)));
            }
        });
        TlsReceiver { address, log }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }

    /// Handshakes that the gateway did not finish.
    pub(crate) fn refused(&self) -> usize {
        self.log.refused.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<TlsRequest> {
        self.log.requests.lock().unwrap().clone()
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, log: Arc<Log>) {
    log.connections.fetch_add(1, Ordering::SeqCst);
    let Ok(stream) = acceptor.accept(stream).await else {
        log.refused.fetch_add(1, Ordering::SeqCst);
        return;
    };
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let service = service_fn(move |request| answer(Arc::clone(&log), request));
    let io = TokioIo::new(stream);
    // How a connection ends is the gateway's business.
    if http2 {
        let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(io, service)
            .await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
    }
}

async fn answer(
    log: Arc<Log>,
    request: http::Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    match request.uri().path() {
        ANSWERED_FIRST => drop(tokio::spawn(read(log, request))),
        NEVER_READ => drop(request),
        _ => read(log, request).await,
    }
    Ok(Response::new(Full::new(Bytes::from_static(b"ok"))))
}

async fn read(log: Arc<Log>, request: http::Request<Incoming>) {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return };
    let body = body.to_bytes();
    let request = TlsRequest { version: head.version, uri: head.uri, headers: head.headers, body };
    log.requests.lock().unwrap().push(request);
}
