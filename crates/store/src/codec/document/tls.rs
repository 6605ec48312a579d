//! What a destination asks of TLS, as part of its document. Of a certificate only the key is a secret.

use super::BadDocument;
use super::fields::{Reading, Writing, text};
use crate::{ClientCertificate, DestinationTls};

const CERTIFICATE: &str = "client_certificate_pem";
const PRIVATE_KEY: &str = "client_private_key_pem";

pub(super) fn write(tls: &DestinationTls, into: &mut Writing<'_>) {
    if let Some(certificate) = &tls.client_certificate {
        into.put(CERTIFICATE, certificate.certificate_pem.as_str());
        into.secret(PRIVATE_KEY, &certificate.private_key_pem);
    }
    into.put("ca_pem", tls.ca_pem.as_deref());
}

pub(super) fn read(from: &Reading<'_>) -> Result<DestinationTls, BadDocument> {
    let client_certificate = match from.maybe(CERTIFICATE, text)? {
        Some(certificate_pem) => {
            Some(ClientCertificate { certificate_pem, private_key_pem: from.secret(PRIVATE_KEY)? })
        }
        None => None,
    };
    Ok(DestinationTls { client_certificate, ca_pem: from.maybe("ca_pem", text)? })
}
