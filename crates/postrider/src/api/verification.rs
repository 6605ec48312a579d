//! How a source's senders must sign, as the API speaks it: read from a request, and shown without the secrets.

use super::error::ApiError;
use super::fields::{Fields, only};
use postrider_core::limits::{VERIFICATION_SECRET_BYTES_MAX, VERIFICATION_SECRETS_MAX};
use postrider_engine::verify::{CONFIG_FIELDS, Preset, Verifier};
use postrider_store::codec::{FIELD_PLACE_FORMS, field_place_from_json};
use postrider_store::{FieldPlace, Source, Verification};
use serde_json::{Map, Value};

/// What stands for a secret in answers. Given back to us it is no secret.
const REDACTED: &str = "[redacted]";
pub(crate) const SECRET_FIELDS: [&str; 3] = ["secret", "secrets", "public_key"];

/// A source with what the request says of its senders, and the rest as it was.
pub(super) fn changed(mut source: Source, fields: &mut Fields) -> Result<Source, ApiError> {
    let provider_before = source.provider.clone();
    if fields.mentions("provider") {
        source.provider = fields.name("provider")?;
    }
    // What another provider signs by says nothing of this one.
    let known = source.verification.as_ref().filter(|_| source.provider == provider_before);
    let known = known.map(|known| known.config.clone()).unwrap_or_default();
    fields.merge("verification_config", &parts(), Some(Value::Object(known)))?;
    let mode = fields.word("auth_mode", mode, "must be \"none\" or \"shared_secret\"")?;
    let mentioned = fields.mentions("verification_config");
    match (mode, fields.take("verification_config")) {
        (Some(Mode::None), Some(_)) => {
            return Err(ApiError::field("verification_config", "needs auth_mode \"shared_secret\""));
        }
        (_, Some(Value::Object(config))) => {
            let known = source.verification.take();
            source.verification = Some(verification(&source, config, known)?);
        }
        (_, Some(_)) => return Err(ApiError::field("verification_config", FORM)),
        (Some(Mode::None), None) => source.verification = None,
        (Some(Mode::SharedSecret), None) if mentioned || source.verification.is_none() => {
            return Err(ApiError::bad_request("verification_config", FORM));
        }
        (None, None) if mentioned => source.verification = None,
        (_, None) => {}
    }
    if let Some(verification) = &source.verification {
        compile(&source, verification)?;
    }
    source.event_type_from = place(fields, "event_type_from", source.event_type_from)?;
    source.idempotency_key_from = place(fields, "idempotency_key_from", source.idempotency_key_from)?;
    Ok(source)
}

/// `auth_mode` and `verification_config` of a source, the latter with a word in place of each secret.
pub(super) fn shown(source: &Source) -> (&'static str, Option<Map<String, Value>>) {
    let Some(verification) = &source.verification else { return ("none", None) };
    let mut config = verification.config.clone();
    match verification.secrets.len() {
        1 => config.insert("secret".into(), REDACTED.into()),
        more => config.insert("secrets".into(), vec![REDACTED; more].into()),
    };
    ("shared_secret", Some(config))
}

enum Mode {
    None,
    SharedSecret,
}

fn mode(word: &str) -> Option<Mode> {
    match word {
        "none" => Some(Mode::None),
        "shared_secret" => Some(Mode::SharedSecret),
        _ => None,
    }
}

const FORM: &str = "must be an object with secret, and with header unless provider is a preset";

fn parts() -> Vec<&'static str> {
    CONFIG_FIELDS.iter().chain(&SECRET_FIELDS).copied().collect()
}

fn verification(
    source: &Source,
    mut config: Map<String, Value>,
    known: Option<Verification>,
) -> Result<Verification, ApiError> {
    only("verification_config", &config, &parts())?;
    let given: Vec<(&str, Value)> =
        SECRET_FIELDS.iter().filter_map(|field| Some((*field, config.remove(*field)?))).collect();
    let secrets = match (&given[..], known) {
        ([], Some(known)) => known.secrets,
        ([], None) => return Err(ApiError::missing("verification_config.secret")),
        ([(field, value)], _) => secrets(field, value)?,
        ([_, (field, _), ..], _) => {
            return Err(secret_error(
                field,
                "cannot be combined with another secret; give them all in secrets",
            ));
        }
    };
    if config.get("header").is_none() && source.provider.as_deref().is_none_or(is_no_preset) {
        let allowed = "must be a header name, unless provider is one of /v1/provider-presets";
        return Err(ApiError::bad_request("verification_config.header", allowed));
    }
    Ok(Verification { config, secrets })
}

fn is_no_preset(name: &str) -> bool {
    Preset::by_name(name).is_none()
}

fn compile(source: &Source, verification: &Verification) -> Result<(), ApiError> {
    let read = Verifier::new(source.provider.as_deref(), &verification.config, &verification.secrets);
    let refused = |bad: postrider_engine::verify::BadVerification| {
        ApiError::field(&format!("verification_config.{}", bad.field), bad.allowed)
    };
    read.map(drop).map_err(refused)
}

fn secrets(field: &str, value: &Value) -> Result<Vec<String>, ApiError> {
    let listed = match value {
        Value::Array(listed) if field == "secrets" => &listed[..],
        single if field != "secrets" => std::slice::from_ref(single),
        _ => &[],
    };
    if !(1..=VERIFICATION_SECRETS_MAX).contains(&listed.len()) {
        let allowed = format!("must be a list of 1 to {VERIFICATION_SECRETS_MAX} texts");
        return Err(secret_error(field, &allowed));
    }
    let one = |value: &Value| match value.as_str() {
        Some(REDACTED) => Err(secret_error(field, "must be the secret itself; leave it out to keep it")),
        Some(text) if (1..=VERIFICATION_SECRET_BYTES_MAX).contains(&text.len()) => Ok(text.to_owned()),
        _ => {
            let allowed = format!("must be a text of 1 to {VERIFICATION_SECRET_BYTES_MAX} bytes");
            Err(secret_error(field, &allowed))
        }
    };
    listed.iter().map(one).collect()
}

fn secret_error(field: &str, allowed: &str) -> ApiError {
    ApiError::field(&format!("verification_config.{field}"), allowed)
}

fn place(
    fields: &mut Fields,
    field: &'static str,
    known: Option<FieldPlace>,
) -> Result<Option<FieldPlace>, ApiError> {
    if !fields.mentions(field) {
        return Ok(known);
    }
    let Some(value) = fields.take(field) else { return Ok(None) };
    if let Value::Object(object) = &value {
        only(field, object, &["header", "json_pointer"])?;
    }
    field_place_from_json(&value).map(Some).ok_or_else(|| ApiError::field(field, FIELD_PLACE_FORMS))
}
