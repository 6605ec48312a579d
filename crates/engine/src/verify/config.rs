//! Reads `verification_config`: a preset with its secret, or a way of signing spelled out field by field.

use super::challenge::Challenge;
use super::pointer::is_pointer;
use super::preset::Preset;
use super::scheme::{Algorithm, Encoding, Scheme};
use super::template::{PLACES, Part, Template};
use super::timestamp::{TimestampPlace, TimestampRule, TimestampUnit};
use super::verifier::Verifier;
use http::HeaderName;
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Which part of `verification_config` is not allowed, and what would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadVerification {
    /// The field inside of `verification_config`.
    pub field: String,
    /// What is allowed.
    pub allowed: String,
}

impl BadVerification {
    fn new(field: &str, allowed: impl Into<String>) -> Self {
        BadVerification { field: field.to_owned(), allowed: allowed.into() }
    }

    pub(super) fn secret(index: usize, of: usize, allowed: String) -> Self {
        let field = if of == 1 { "secret".to_owned() } else { format!("secrets[{index}]") };
        BadVerification { field, allowed }
    }
}

impl fmt::Display for BadVerification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.allowed)
    }
}

impl std::error::Error for BadVerification {}

const PRESET_FIELDS: [&str; 2] = ["header", "tolerance_seconds"];
/// What `verification_config` may hold beside secrets.
pub const CONFIG_FIELDS: [&str; 10] = [
    "header",
    "scheme",
    "encoding",
    "prefix",
    "separator",
    "signed",
    "id_header",
    "timestamp",
    "tolerance_seconds",
    "challenge",
];
const TOLERANCE_SECONDS_DEFAULT: u64 = 300;
/// A week: longer than any sender repeats what it signed once.
const TOLERANCE_SECONDS_MAX: u64 = 7 * 24 * 3600;
const TEXT_BYTES_MAX: usize = 256;

pub(super) fn read(
    preset: Option<&'static Preset>,
    config: &Map<String, Value>,
    secrets: &[String],
) -> Result<Verifier, BadVerification> {
    match preset.or_else(|| meant_preset(config)) {
        Some(preset) => by_preset(preset, config, secrets),
        None => spelled_out(config, secrets),
    }
}

/// GetHook's users give a header and a secret. What a provider sends in its header is its signature, which no plain
/// token would ever be; who wants one there says `scheme`.
fn meant_preset(config: &Map<String, Value>) -> Option<&'static Preset> {
    let header = config.get("header")?.as_str()?;
    let plain = config.keys().all(|field| PRESET_FIELDS.contains(&field.as_str()));
    Preset::by_header(header).filter(|_| plain)
}

fn by_preset(
    preset: &'static Preset,
    config: &Map<String, Value>,
    secrets: &[String],
) -> Result<Verifier, BadVerification> {
    only(config, &PRESET_FIELDS)?;
    if let Some(header) = config.get("header")
        && !header.as_str().is_some_and(|name| name.eq_ignore_ascii_case(preset.header))
    {
        let allowed = format!("must be {} for provider {:?}, or be left out", preset.header, preset.name);
        return Err(BadVerification::new("header", allowed));
    }
    let mut schemes = preset.schemes();
    if let Some(tolerance) = tolerance(config)? {
        let mut rules = schemes.iter_mut().filter_map(|scheme| scheme.timestamp.as_mut()).peekable();
        if rules.peek().is_none() {
            let allowed = format!("has no meaning for provider {:?}, which sends no time", preset.name);
            return Err(BadVerification::new("tolerance_seconds", allowed));
        }
        rules.for_each(|rule| rule.tolerance = tolerance);
    }
    Verifier::of(schemes, secrets, preset.challenge, Some(preset))
}

fn spelled_out(config: &Map<String, Value>, secrets: &[String]) -> Result<Verifier, BadVerification> {
    only(config, &CONFIG_FIELDS)?;
    let header = header(config, "header")?.ok_or_else(|| BadVerification::new("header", "is missing"))?;
    let algorithm = word(config, "scheme", Algorithm::from_word)
        .map_err(|field| {
            let allowed = "must be token, hmac_sha256, hmac_sha1, ecdsa_p256_sha256 or ed25519";
            BadVerification::new(field, allowed)
        })?
        .unwrap_or(Algorithm::Token);
    let encoding = word(config, "encoding", Encoding::from_word)
        .map_err(|field| BadVerification::new(field, "must be hex or base64"))?
        .unwrap_or(Encoding::Hex);
    let challenge = word(config, "challenge", Challenge::from_word)
        .map_err(|field| BadVerification::new(field, "must be slack or discord"))?;
    let scheme = Scheme {
        header,
        separator: separator(config)?,
        prefix: text(config, "prefix")?.unwrap_or_default(),
        algorithm,
        encoding,
        signed: template(config)?,
        timestamp: timestamp(config)?,
        id_header: self::header(config, "id_header")?,
    };
    check_parts(&scheme, config)?;
    Verifier::of(vec![scheme], secrets, challenge, None)
}

/// A signature that leaves out what it is relied upon for protects nothing.
fn check_parts(scheme: &Scheme, config: &Map<String, Value>) -> Result<(), BadVerification> {
    let signed = |allowed: &str| Err(BadVerification::new("signed", allowed));
    if scheme.algorithm == Algorithm::Token {
        let unused = ["encoding", "signed", "timestamp", "tolerance_seconds", "id_header"];
        return match unused.iter().find(|field| config.contains_key(**field)) {
            Some(field) => {
                Err(BadVerification::new(field, "has no meaning for a token; give scheme as well"))
            }
            None => Ok(()),
        };
    }
    if !scheme.signed.covers_body() {
        return signed(
            "must hold {body}, {form} or {url_with_sha256:PARAMETER}, or else anyone could change the body",
        );
    }
    let told = scheme.timestamp.as_ref().map(|rule| &rule.place);
    let beside = told.is_some_and(|place| !matches!(place, TimestampPlace::JsonPointer(_)));
    match (beside, scheme.signed.has(&Part::Timestamp)) {
        (true, false) => return signed("must hold {timestamp}, or else anyone could change it"),
        (false, true) => return signed("must not hold {timestamp} unless timestamp says where it is"),
        _ => {}
    }
    match (scheme.id_header.is_some(), scheme.signed.has(&Part::Id)) {
        (true, false) => signed("must hold {id}, or else anyone could change it"),
        (false, true) => signed("must not hold {id} unless id_header says where it is"),
        _ => Ok(()),
    }
}

fn template(config: &Map<String, Value>) -> Result<Template, BadVerification> {
    let text = text(config, "signed")?.unwrap_or_else(|| "{body}".into());
    let allowed = || format!("must be text with places in it, which are {PLACES}");
    Template::parse(&text).ok_or_else(|| BadVerification::new("signed", allowed()))
}

fn separator(config: &Map<String, Value>) -> Result<Option<char>, BadVerification> {
    let Some(text) = text(config, "separator")? else { return Ok(None) };
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => Ok(Some(letter)),
        _ => Err(BadVerification::new("separator", "must be one character, such as a comma")),
    }
}

fn timestamp(config: &Map<String, Value>) -> Result<Option<TimestampRule>, BadVerification> {
    let tolerance = tolerance(config)?;
    let Some(value) = config.get("timestamp") else {
        return match tolerance {
            Some(_) => Err(BadVerification::new("tolerance_seconds", "needs timestamp as well")),
            None => Ok(None),
        };
    };
    let forms = "must be an object with one of header, entry, json_pointer, and unit (seconds, milliseconds or rfc3339)";
    let bad = || BadVerification::new("timestamp", forms);
    let object = value.as_object().ok_or_else(bad)?;
    let mut places = object.iter().filter(|(key, _)| *key != "unit");
    let (Some((kind, place)), None) = (places.next(), places.next()) else { return Err(bad()) };
    let place =
        place.as_str().filter(|text| !text.is_empty() && text.len() <= TEXT_BYTES_MAX).ok_or_else(bad)?;
    let place = match kind.as_str() {
        "header" => TimestampPlace::Header(HeaderName::try_from(place).map_err(|_| bad())?),
        "entry" => TimestampPlace::Entry(place.to_owned()),
        "json_pointer" if is_pointer(place) => TimestampPlace::JsonPointer(place.to_owned()),
        _ => return Err(bad()),
    };
    let unit = word(object, "unit", TimestampUnit::from_word).map_err(|_| bad())?;
    let unit = unit.unwrap_or(TimestampUnit::Seconds);
    let tolerance = tolerance.unwrap_or(Duration::from_secs(TOLERANCE_SECONDS_DEFAULT));
    Ok(Some(TimestampRule { place, unit, tolerance }))
}

fn tolerance(config: &Map<String, Value>) -> Result<Option<Duration>, BadVerification> {
    let Some(value) = config.get("tolerance_seconds") else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=TOLERANCE_SECONDS_MAX).contains(seconds));
    let allowed = || format!("must be a whole number from 1 to {TOLERANCE_SECONDS_MAX}");
    let seconds = seconds.ok_or_else(|| BadVerification::new("tolerance_seconds", allowed()))?;
    Ok(Some(Duration::from_secs(seconds)))
}

fn header(config: &Map<String, Value>, field: &str) -> Result<Option<HeaderName>, BadVerification> {
    let Some(value) = config.get(field) else { return Ok(None) };
    let name = value.as_str().filter(|name| name.len() <= TEXT_BYTES_MAX);
    let name = name.and_then(|name| HeaderName::try_from(name).ok());
    name.map(Some).ok_or_else(|| BadVerification::new(field, "must be a header name"))
}

fn text(config: &Map<String, Value>, field: &str) -> Result<Option<String>, BadVerification> {
    let Some(value) = config.get(field) else { return Ok(None) };
    let text = value.as_str().filter(|text| text.len() <= TEXT_BYTES_MAX);
    let allowed = || format!("must be a text of at most {TEXT_BYTES_MAX} bytes");
    text.map(|text| Some(text.to_owned())).ok_or_else(|| BadVerification::new(field, allowed()))
}

/// One of a few words; the error is the field.
fn word<'a, T>(
    config: &Map<String, Value>,
    field: &'a str,
    known: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, &'a str> {
    let Some(value) = config.get(field) else { return Ok(None) };
    value.as_str().and_then(known).map(Some).ok_or(field)
}

fn only(config: &Map<String, Value>, allowed: &[&str]) -> Result<(), BadVerification> {
    match config.keys().find(|key| !allowed.contains(&key.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let shown: String = unknown.chars().take(64).collect();
            let sentence = format!("is not a field of this; allowed are {}", allowed.join(", "));
            Err(BadVerification::new(&shown, format!("{sentence}, secret, secrets, public_key")))
        }
    }
}
