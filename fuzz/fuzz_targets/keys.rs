//! No text breaks the readers of keys and certificates, and what is taken as a key of ours is one: it signs, and its
//! public half is that of its seed. The text is read as each of them.

#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use postrider_engine::send::{ClientTls, PrivateKey, SigningSecret};
use postrider_store::{ClientCertificate, DestinationTls};

fuzz_target!(|text: &str| {
    let bytes = |prefix| STANDARD.decode(text.strip_prefix(prefix)?).ok();
    if SigningSecret::parse(text).is_ok() {
        let secret = bytes("whsec_").expect("it was read");
        assert!((24..=64).contains(&secret.len()));
    }
    if let Ok(key) = PrivateKey::parse(text) {
        let key_bytes = bytes("whsk_").expect("it was read");
        let seed = key_bytes.first_chunk::<32>().expect("a key begins with its seed");
        let again = PrivateKey::parse(&PrivateKey::text_of(*seed)).expect("we wrote it");
        assert_eq!(again.public_text(), key.public_text());
    }
    let (certificate, key) = text.split_at(text.find("\n\n").unwrap_or(0));
    let own = ClientCertificate { certificate_pem: certificate.to_owned(), private_key_pem: key.to_owned() };
    for tls in [
        DestinationTls { client_certificate: Some(own), ca_pem: None },
        DestinationTls { client_certificate: None, ca_pem: Some(text.to_owned()) },
    ] {
        if let Err(bad) = ClientTls::parse(&tls) {
            assert!(bad.to_string().len() < 200, "as long as the input");
        }
    }
});
