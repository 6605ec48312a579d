//! What a destination asks of TLS beyond the usual: a certificate of ours, an authority of its own.

use std::fmt;

/// The TLS settings of a destination. All in PEM, as they were given.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct DestinationTls {
    /// What we show to the receiver.
    pub client_certificate: Option<ClientCertificate>,
    /// Who may have signed the receiver's certificate, in place of the public authorities.
    pub ca_pem: Option<String>,
}

/// A certificate of ours with its key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientCertificate {
    /// The certificate, followed by those of its issuers if the receiver needs them.
    pub certificate_pem: String,
    /// Its private key.
    pub private_key_pem: String,
}

impl fmt::Debug for DestinationTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |given: bool| if given { "given" } else { "none" };
        let (certificate, authority) = (self.client_certificate.is_some(), self.ca_pem.is_some());
        write!(f, "DestinationTls(certificate {}, authority {})", shown(certificate), shown(authority))
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientCertificate(redacted)")
    }
}
