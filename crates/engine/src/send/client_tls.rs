//! TLS as one destination wants it: with a certificate of ours, or with an authority of its own.

use postrider_store::{ClientCertificate, DestinationTls};
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, Error, RootCertStore};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// What a destination brings to the TLS of its connections.
pub struct ClientTls {
    certificate: Option<Arc<dyn ResolvesClientCert>>,
    verifier: Option<Arc<dyn ServerCertVerifier>>,
    /// Made of the gateway's own at the first dial.
    config: OnceLock<Arc<ClientConfig>>,
}

/// Which part cannot be used, and what is allowed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTls {
    /// The field at fault.
    pub field: &'static str,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for BadTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.allowed)
    }
}

const CERTIFICATE: &str = "client_certificate.certificate_pem";
const PRIVATE_KEY: &str = "client_certificate.private_key_pem";
const AUTHORITY: &str = "ca_pem";
/// A chain is rarely longer than three.
const CHAIN_MAX: usize = 10;
/// Of a destination; the public authorities together are some 150.
const AUTHORITIES_MAX: usize = 100;
/// Sessions of one destination that may be resumed.
const SESSIONS_MAX: usize = 8;

impl ClientTls {
    /// Checks the settings. `None` when there is nothing special about them.
    pub fn parse(tls: &DestinationTls) -> Result<Option<Self>, BadTls> {
        let certificate = tls.client_certificate.as_ref().map(certificate).transpose()?;
        let verifier = tls.ca_pem.as_deref().map(verifier).transpose()?;
        if certificate.is_none() && verifier.is_none() {
            return Ok(None);
        }
        Ok(Some(ClientTls { certificate, verifier, config: OnceLock::new() }))
    }

    pub(crate) fn config(&self, usual: &ClientConfig) -> Arc<ClientConfig> {
        let make = || {
            let mut config = usual.clone();
            // A session that was opened with this certificate must never be resumed by another destination.
            config.resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
            if let Some(certificate) = &self.certificate {
                config.client_auth_cert_resolver = Arc::clone(certificate);
            }
            if let Some(verifier) = &self.verifier {
                config.dangerous().set_certificate_verifier(Arc::clone(verifier));
            }
            Arc::new(config)
        };
        Arc::clone(self.config.get_or_init(make))
    }
}

fn certificate(given: &ClientCertificate) -> Result<Arc<dyn ResolvesClientCert>, BadTls> {
    let chain = certificates(CERTIFICATE, &given.certificate_pem, CHAIN_MAX)?;
    let unusable = |allowed: &str| BadTls { field: PRIVATE_KEY, allowed: allowed.to_owned() };
    let key = PrivateKeyDer::from_pem_slice(given.private_key_pem.as_bytes())
        .map_err(|_| unusable("must be a private key in PEM, without a passphrase"))?;
    let provider = rustls::crypto::ring::default_provider();
    let certified = CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
        Error::InconsistentKeys(_) => unusable("does not belong to the first certificate of certificate_pem"),
        Error::InvalidCertificate(_) => unparsable(CERTIFICATE),
        _ => unusable("must be an RSA, ECDSA (P-256, P-384) or Ed25519 key"),
    })?;
    Ok(Arc::new(SingleCertAndKey::from(certified)))
}

fn verifier(pem: &str) -> Result<Arc<dyn ServerCertVerifier>, BadTls> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(AUTHORITY, pem, AUTHORITIES_MAX)? {
        roots.add(authority).map_err(|_| unparsable(AUTHORITY))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    Ok(verifier.map_err(|_| unparsable(AUTHORITY))?)
}

fn certificates(field: &'static str, pem: &str, most: usize) -> Result<Vec<CertificateDer<'static>>, BadTls> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let read = read.map_err(|_| unparsable(field))?;
    if (1..=most).contains(&read.len()) {
        return Ok(read);
    }
    Err(BadTls { field, allowed: format!("must hold 1 to {most} certificates in PEM, not {}", read.len()) })
}

fn unparsable(field: &'static str) -> BadTls {
    let allowed = "must be certificates in PEM, each from -----BEGIN CERTIFICATE----- to its end".to_owned();
    BadTls { field, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::{PrivateKey, SigningSecret};
    use proptest::prelude::*;

    /// Texts that begin as keys and certificates do, and then do not.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "(whsec_|whsk_)[A-Za-z0-9+/]{0,100}={0,2}",
            "(-----BEGIN (CERTIFICATE|PRIVATE KEY)-----\\n[A-Za-z0-9+/=\\n]{0,80}\\n-----END (CERTIFICATE|PRIVATE KEY)-----\\n){0,3}",
        ]
    }

    proptest! {
        #[test]
        fn any_text_is_a_key_or_refused_in_a_sentence(first in text(), second in text()) {
            let own = ClientCertificate { certificate_pem: first.clone(), private_key_pem: second.clone() };
            for tls in [
                DestinationTls { client_certificate: Some(own), ca_pem: None },
                DestinationTls { client_certificate: None, ca_pem: Some(first.clone()) },
            ] {
                let said = ClientTls::parse(&tls).err().map(|bad| bad.to_string());
                prop_assert!(said.is_none_or(|said| said.len() < 200));
            }
            let _ = SigningSecret::parse(&first);
            if let Ok(key) = PrivateKey::parse(&second) {
                prop_assert!(key.public_text().starts_with("whpk_"));
            }
        }
    }
}
