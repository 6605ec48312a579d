//! Signs as a provider does, from the same table that verifies it: for sample events, and for nothing that is delivered.

use super::key::Key;
use super::preset::Preset;
use super::scheme::{Algorithm, Scheme};
use super::template::Told;
use super::timestamp::{TimestampPlace, TimestampUnit};
use super::verifier::Incoming;
use http::{HeaderMap, HeaderName, HeaderValue};
use postrider_core::time::Timestamp;

/// Why nothing can be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotSign {
    /// Only the provider has the private key.
    #[error("is signed with a key that only the provider has")]
    PrivateKey,
    /// The secret is none of this provider's.
    #[error("{0}")]
    Secret(&'static str),
    /// A header or a parameter that is signed is missing, or the secret cannot stand in a header.
    #[error("lacks something that is signed")]
    Incomplete,
}

impl Preset {
    /// The headers that make this request one of the provider's, by the first of its ways of signing.
    pub fn sign(
        &self,
        secret: &str,
        request: &Incoming<'_>,
        now: Timestamp,
    ) -> Result<HeaderMap, CannotSign> {
        let schemes = self.schemes();
        let scheme = schemes.first().ok_or(CannotSign::PrivateKey)?;
        if matches!(
            scheme.algorithm,
            Algorithm::EcdsaP256Sha256 | Algorithm::Ed25519 | Algorithm::StandardEd25519
        ) {
            return Err(CannotSign::PrivateKey);
        }
        scheme.sign(secret, request, now)
    }
}

impl Scheme {
    fn sign(&self, secret: &str, request: &Incoming<'_>, now: Timestamp) -> Result<HeaderMap, CannotSign> {
        let mut headers = HeaderMap::new();
        let mut entries = Vec::new();
        let time = self.timestamp.as_ref().map(|rule| (&rule.place, rule.unit.write(now)));
        match &time {
            Some((TimestampPlace::Header(name), text)) => put(&mut headers, name, text)?,
            Some((TimestampPlace::Entry(prefix), text)) => entries.push(format!("{prefix}{text}")),
            Some((TimestampPlace::JsonPointer(_), _)) | None => {}
        }
        let timestamp = time.as_ref().map(|(_, text)| text.as_str());
        let id = self.id_header.as_ref().and_then(|name| request.headers.get(name)?.to_str().ok());
        let signed = self.signed.fill(request, &Told { timestamp, id }).ok_or(CannotSign::Incomplete)?;
        let key = Key::parse(self.algorithm, secret).map_err(CannotSign::Secret)?;
        let signature = match self.algorithm {
            Algorithm::Token => secret.to_owned(),
            _ => self.encoding.encode(&key.sign(&signed).ok_or(CannotSign::PrivateKey)?),
        };
        entries.push(format!("{}{signature}", self.prefix));
        let separator = self.separator.map(String::from).unwrap_or_default();
        put(&mut headers, &self.header, &entries.join(&separator))?;
        Ok(headers)
    }
}

fn put(headers: &mut HeaderMap, name: &HeaderName, value: &str) -> Result<(), CannotSign> {
    let mut value = HeaderValue::from_str(value).map_err(|_| CannotSign::Incomplete)?;
    value.set_sensitive(true);
    headers.insert(name.clone(), value);
    Ok(())
}

impl TimestampUnit {
    fn write(self, at: Timestamp) -> String {
        match self {
            TimestampUnit::Seconds => at.unix_seconds().to_string(),
            TimestampUnit::Milliseconds => at.unix_ms().to_string(),
            TimestampUnit::Rfc3339 => at.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::preset::{Needs, PRESETS};
    use super::super::verifier::Verifier;
    use super::*;
    use serde_json::Map;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_700_000_000_000);

    #[test]
    fn what_is_signed_by_a_preset_is_verified_by_it() {
        for preset in PRESETS.iter().filter(|preset| preset.needs != Needs::PublicKey) {
            let secret = if preset.name == "standard" { "whsec_c2VjcmV0" } else { "secret" };
            let mut headers = HeaderMap::new();
            headers.insert("webhook-id", HeaderValue::from_static("msg_1"));
            headers.insert("content-type", HeaderValue::from_static("application/x-www-form-urlencoded"));
            let body: &[u8] = match preset.name {
                "twilio" => b"Body=hello&From=%2B15550100",
                _ => br#"{"webhookTimestamp":1700000000000}"#,
            };
            let url = "https://example.com/ingest/token";
            let request = Incoming { method: "POST", url, headers: &headers, body };
            let signed = preset.sign(secret, &request, NOW).expect(preset.name);
            let verifier =
                Verifier::new(Some(preset.name), &Map::new(), &[secret.to_owned()]).expect("it is legal");
            let mut all = headers.clone();
            all.extend(signed);
            let arrived = Incoming { headers: &all, ..request };
            assert!(
                verifier.verify(&arrived, NOW).is_ok(),
                "{}: {:?}",
                preset.name,
                verifier.verify(&arrived, NOW)
            );
            let other =
                Verifier::new(Some(preset.name), &Map::new(), &["whsec_b3RoZXI=".to_owned()]).expect("legal");
            assert!(other.verify(&arrived, NOW).is_err(), "{} by another secret", preset.name);
        }
    }

    #[test]
    fn what_only_the_provider_can_sign_is_refused() {
        let headers = HeaderMap::new();
        let request = Incoming { method: "POST", url: "", headers: &headers, body: b"" };
        let sign = |name: &str, secret| Preset::by_name(name).expect("known").sign(secret, &request, NOW);
        assert_eq!(sign("discord", "x").err(), Some(CannotSign::PrivateKey));
        assert_eq!(sign("sendgrid", "x").err(), Some(CannotSign::PrivateKey));
        assert_eq!(sign("standard", "whsec_c2VjcmV0").err(), Some(CannotSign::Incomplete));
        assert_eq!(sign("gitlab", "a\nb").err(), Some(CannotSign::Incomplete));
    }
}
