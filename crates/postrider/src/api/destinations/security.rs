//! The settings of a destination that say how it is signed for, by which certificates it is met, and whether its
//! receiver must agree first.

use super::keys::new_private_key;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, only, required_part};
use postrider_engine::send::{ClientTls, PrivateKey, SigningSecret};
use postrider_store::{
    ClientCertificate, Destination, Handshake, PrivateKeyText, SignatureVersions, Signing,
};
use serde_json::Value;

/// Takes over what the caller gives. `null` takes an optional one away.
pub(super) fn security(mut into: Destination, fields: &mut Fields) -> Result<Destination, ApiError> {
    if let Some(secret) = fields.text("signing_secret")? {
        SigningSecret::parse(&secret).map_err(|allowed| ApiError::field("signing_secret", allowed))?;
        into.signing_secret = secret;
    }
    into.signing = signing(into.signing, fields)?;
    if fields.mentions("client_certificate") {
        into.tls.client_certificate = client_certificate(fields)?;
    }
    if fields.mentions("ca_pem") {
        into.tls.ca_pem = fields.text("ca_pem")?;
    }
    ClientTls::parse(&into.tls).map_err(|bad| ApiError::field(bad.field, bad.allowed))?;
    into.handshake = match (fields.switch("handshake")?, into.handshake) {
        (Some(false), _) => Handshake::Off,
        (Some(true), Handshake::Off) => Handshake::Wanted,
        (_, as_it_is) => as_it_is,
    };
    Ok(into)
}

fn signing(mut into: Signing, fields: &mut Fields) -> Result<Signing, ApiError> {
    if let Some(value) = fields.take("signature_versions") {
        into.versions = versions(&value).ok_or_else(|| {
            ApiError::field("signature_versions", "must be [\"v1\"], [\"v1a\"] or [\"v1\", \"v1a\"]")
        })?;
    }
    if let Some(key) = fields.text("private_key")? {
        PrivateKey::parse(&key).map_err(|allowed| ApiError::field("private_key", allowed))?;
        into.private_key = Some(PrivateKeyText(key));
    }
    if into.versions.has_v1a() && into.private_key.is_none() {
        into.private_key = Some(new_private_key());
    }
    Ok(into)
}

fn versions(value: &Value) -> Option<SignatureVersions> {
    let words: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    SignatureVersions::from_words(&words?)
}

fn client_certificate(fields: &mut Fields) -> Result<Option<ClientCertificate>, ApiError> {
    const FIELD: &str = "client_certificate";
    let Some(value) = fields.take(FIELD) else { return Ok(None) };
    let Value::Object(value) = value else {
        return Err(ApiError::field(FIELD, "must be an object with certificate_pem and private_key_pem"));
    };
    only(FIELD, &value, &["certificate_pem", "private_key_pem"])?;
    let text = |part: &str| {
        let text = required_part(FIELD, &value, part)?.as_str().map(str::to_owned);
        text.ok_or_else(|| ApiError::field(&format!("{FIELD}.{part}"), "must be a text in PEM"))
    };
    let (certificate_pem, private_key_pem) = (text("certificate_pem")?, text("private_key_pem")?);
    Ok(Some(ClientCertificate { certificate_pem, private_key_pem }))
}
