//! Decides whether a request was signed by who may send here.

use super::challenge::Challenge;
use super::config::{self, BadVerification};
use super::key::{Key, Signed};
use super::pointer::{Found, find};
use super::preset::Preset;
use super::scheme::{Algorithm, Scheme};
use super::template::Told;
use super::timestamp::TimestampPlace;
use http::{HeaderMap, HeaderName, HeaderValue};
use postrider_core::time::Timestamp;
use serde_json::{Map, Value};
use std::fmt;

/// A request as far as a signature can cover it.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// Its method.
    pub method: &'a str,
    /// The public URL it was sent to, with its query: never made of what the request says of its host.
    pub url: &'a str,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// The bytes as they came.
    pub body: &'a [u8],
}

/// Why a request is refused, from the least to the most telling. For our log, never for the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The header with the signature is missing, or none in it is of the right form.
    NoSignature,
    /// Something else that is signed is missing.
    Incomplete,
    /// The time of the signature is too far from now, or is none.
    Untimely,
    /// It is not the signature of this request by any known secret.
    Mismatch,
}

/// A request that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The sender's id of the event, when it is covered by the signature.
    pub signed_id: Option<String>,
}

/// All that is accepted at a source. One without any way to pass refuses everything.
#[derive(Default)]
pub struct Verifier {
    pub(super) doors: Vec<Door>,
    pub(super) challenge: Option<Challenge>,
    preset: Option<&'static Preset>,
}

/// One way of signing with the keys that fit it.
pub(super) struct Door {
    pub(super) scheme: Scheme,
    pub(super) keys: Vec<Key>,
}

/// Signatures that are looked at in one header. On rotation there are two.
const SIGNATURES_MAX: usize = 16;
/// The same by public keys: the whole body is gone over for each of them with each key.
const PUBLIC_SIGNATURES_MAX: usize = 4;

impl Verifier {
    /// From the configuration of a source, `config` being its `verification_config` without the secrets.
    pub fn new(
        provider: Option<&str>,
        config: &Map<String, Value>,
        secrets: &[String],
    ) -> Result<Self, BadVerification> {
        config::read(provider.and_then(Preset::by_name), config, secrets)
    }

    pub(super) fn of(
        schemes: Vec<Scheme>,
        secrets: &[String],
        challenge: Option<Challenge>,
        preset: Option<&'static Preset>,
    ) -> Result<Self, BadVerification> {
        for (index, secret) in secrets.iter().enumerate() {
            let fits = schemes.iter().map(|scheme| Key::parse(scheme.algorithm, secret).err());
            let refusals: Option<Vec<&str>> = fits.collect();
            if let Some(allowed) = refusals {
                return Err(BadVerification::secret(index, secrets.len(), distinct(&allowed)));
            }
        }
        let door = |scheme: Scheme| {
            let keys = secrets.iter().filter_map(|secret| Key::parse(scheme.algorithm, secret).ok());
            Door { keys: keys.collect(), scheme }
        };
        Ok(Verifier { doors: schemes.into_iter().map(door).collect(), challenge, preset })
    }

    /// Whether this request may come in, at this time.
    pub fn verify(&self, request: &Incoming<'_>, now: Timestamp) -> Result<Passed, Refusal> {
        let mut refusal = Refusal::NoSignature;
        for door in &self.doors {
            match door.verify(request, now) {
                Ok(passed) => return Ok(passed),
                Err(why) => refusal = refusal.max(why),
            }
        }
        Err(refusal)
    }

    /// The answer when a verified body is a question of the provider and no event.
    pub fn reply(&self, body: &[u8]) -> Option<String> {
        self.challenge?.reply(body)
    }

    /// The preset that is used.
    pub fn preset(&self) -> Option<&'static Preset> {
        self.preset
    }

    /// Headers whose value is a secret itself, which must not be kept with the event.
    pub fn secret_headers(&self) -> impl Iterator<Item = &HeaderName> {
        let tokens = self.doors.iter().filter(|door| door.scheme.algorithm == Algorithm::Token);
        tokens.map(|door| &door.scheme.header)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes = self.doors.iter().map(|door| &door.scheme);
        f.debug_list().entries(schemes).finish()
    }
}

impl Door {
    fn verify(&self, request: &Incoming<'_>, now: Timestamp) -> Result<Passed, Refusal> {
        let scheme = &self.scheme;
        let entries = self.entries(request.headers);
        let signatures: Vec<&str> =
            entries.iter().filter_map(|entry| entry.strip_prefix(scheme.prefix.as_str())).collect();
        if signatures.is_empty() || signatures.len() > self.signatures_max() {
            return Err(Refusal::NoSignature);
        }
        let id = scheme.id_header.as_ref().and_then(|name| request.headers.get(name)?.to_str().ok());
        let timestamp = self.told_timestamp(request, &entries)?;
        if let (Some(rule), Some(text)) = (&scheme.timestamp, timestamp)
            && !rule.allows(text, now)
        {
            return Err(Refusal::Untimely);
        }
        let pieces = scheme.signed.fill(request, &Told { timestamp, id }).ok_or(Refusal::Incomplete)?;
        if !self.holds(&signatures, &Signed::new(pieces)) {
            return Err(Refusal::Mismatch);
        }
        self.check_body_timestamp(request.body, now)?;
        Ok(Passed { signed_id: id.map(str::to_owned) })
    }

    fn entries<'a>(&self, headers: &'a HeaderMap) -> Vec<&'a str> {
        // A plain token may be any text, not only ASCII.
        let text = |value: &'a HeaderValue| std::str::from_utf8(value.as_bytes()).ok();
        let values = headers.get_all(&self.scheme.header).into_iter().filter_map(text);
        match self.scheme.separator {
            Some(separator) => values.flat_map(|value| value.split(separator)).map(str::trim).collect(),
            None => values.collect(),
        }
    }

    /// The timestamp that can be known before the signature is checked.
    fn told_timestamp<'a>(
        &self,
        request: &Incoming<'a>,
        entries: &[&'a str],
    ) -> Result<Option<&'a str>, Refusal> {
        let text = match self.scheme.timestamp.as_ref().map(|rule| &rule.place) {
            None | Some(TimestampPlace::JsonPointer(_)) => return Ok(None),
            Some(TimestampPlace::Header(name)) => {
                request.headers.get(name).and_then(|value| value.to_str().ok())
            }
            Some(TimestampPlace::Entry(prefix)) => {
                entries.iter().find_map(|entry| entry.strip_prefix(prefix.as_str()))
            }
        };
        text.map(Some).ok_or(Refusal::Incomplete)
    }

    fn signatures_max(&self) -> usize {
        let public = self.keys.iter().any(|key| matches!(key, Key::Public(_)));
        if public { PUBLIC_SIGNATURES_MAX } else { SIGNATURES_MAX }
    }

    fn holds(&self, signatures: &[&str], signed: &Signed<'_>) -> bool {
        let decoded = |text: &&str| match self.scheme.algorithm {
            Algorithm::Token => Some(text.as_bytes().to_vec()),
            _ => self.scheme.encoding.decode(text),
        };
        let decoded: Vec<Vec<u8>> = signatures.iter().filter_map(decoded).collect();
        !decoded.is_empty() && self.keys.iter().any(|key| key.holds(&decoded, signed))
    }

    /// A body is read only now that its signature holds.
    fn check_body_timestamp(&self, body: &[u8], now: Timestamp) -> Result<(), Refusal> {
        let Some(rule) = &self.scheme.timestamp else { return Ok(()) };
        let TimestampPlace::JsonPointer(pointer) = &rule.place else { return Ok(()) };
        match find(body, pointer) {
            Some(Found::Text(text) | Found::Number(text)) if rule.allows(&text, now) => Ok(()),
            _ => Err(Refusal::Untimely),
        }
    }
}

/// The same words once.
fn distinct(allowed: &[&str]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    allowed.iter().for_each(|text| {
        if !seen.contains(text) {
            seen.push(text);
        }
    });
    seen.join(", or ")
}
