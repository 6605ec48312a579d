//! What a destination adds to the headers of its deliveries: credentials and headers of its own.

use crate::api::error::ApiError;
use crate::api::fields::{Fields, merged, only, required_part};
use http::{HeaderName, HeaderValue};
use postrider_core::limits::{CUSTOM_HEADERS_MAX, EVENT_HEADER_BYTES_MAX};
use postrider_store::{DestinationAuth, Headers};
use serde_json::{Map, Value, json};

/// The parts of credentials of all types.
const AUTH_PARTS: [&str; 6] = ["type", "token", "header", "value", "username", "password"];

/// What is not given stays, unless it is of another type.
pub(super) fn auth(
    fields: &mut Fields,
    known: Option<&DestinationAuth>,
) -> Result<Option<DestinationAuth>, ApiError> {
    let given_type = fields.object("auth_config").and_then(|given| given.get("type").cloned());
    let is_alike = |known: &Value| given_type.is_none_or(|given| given == known["type"]);
    let kept = known.map(parts).filter(is_alike).unwrap_or(json!({}));
    fields.merge("auth_config", &AUTH_PARTS, Some(kept))?;
    let Some(value) = fields.take("auth_config") else { return Ok(None) };
    let Value::Object(value) = value else {
        return Err(ApiError::field("auth_config", "must be an object with a type"));
    };
    let text = |field: &str| {
        let part = required_part("auth_config", &value, field)?;
        Ok::<_, ApiError>(part.as_str().unwrap_or_default().to_owned())
    };
    let secret = |field: &'static str| {
        let text = text(field)?;
        let legal = !text.is_empty() && HeaderValue::try_from(text.as_str()).is_ok();
        let refused =
            || ApiError::field(&format!("auth_config.{field}"), "must be a text that fits into a header");
        if legal { Ok(text) } else { Err(refused()) }
    };
    match text("type")?.as_str() {
        "bearer" => {
            only("auth_config", &value, &["type", "token"])?;
            Ok(Some(DestinationAuth::Bearer { token: secret("token")? }))
        }
        "header" => {
            only("auth_config", &value, &["type", "header", "value"])?;
            let header = header_name("auth_config.header", &text("header")?)?;
            Ok(Some(DestinationAuth::Header { header, value: secret("value")? }))
        }
        "basic" => basic(&value),
        _ => Err(ApiError::field("auth_config.type", "must be \"bearer\", \"header\" or \"basic\"")),
    }
}

fn parts(auth: &DestinationAuth) -> Value {
    match auth {
        DestinationAuth::Bearer { token } => json!({ "type": "bearer", "token": token }),
        DestinationAuth::Header { header, value } => {
            json!({ "type": "header", "header": header, "value": value })
        }
        DestinationAuth::Basic { username, password } => {
            json!({ "type": "basic", "username": username, "password": password })
        }
    }
}

/// RFC 7617: a colon ends the user name, and neither part has control characters. The password may be empty.
fn basic(value: &Map<String, Value>) -> Result<Option<DestinationAuth>, ApiError> {
    only("auth_config", value, &["type", "username", "password"])?;
    let text = |field: &str| required_part("auth_config", value, field).map(Value::as_str);
    let printable = |text: &&str| text.len() <= BASIC_BYTES_MAX && !text.chars().any(char::is_control);
    let username = text("username")?.filter(printable).filter(|name| !name.is_empty() && !name.contains(':'));
    let allowed = format!("must be 1 to {BASIC_BYTES_MAX} bytes without a colon or control characters");
    let username = username.ok_or_else(|| ApiError::field("auth_config.username", allowed))?.to_owned();
    let allowed = format!("must be a text of at most {BASIC_BYTES_MAX} bytes without control characters");
    let password = text("password")?.filter(printable);
    let password = password.ok_or_else(|| ApiError::field("auth_config.password", allowed))?.to_owned();
    Ok(Some(DestinationAuth::Basic { username, password }))
}

/// Longest user name and longest password.
const BASIC_BYTES_MAX: usize = 1024;

/// Those that are not given stay, by their names in any case; `null` takes one away.
pub(super) fn custom_headers(fields: &mut Fields, known: &Headers) -> Result<Headers, ApiError> {
    if let Some(given) = fields.object("custom_headers") {
        let named = std::mem::take(given).into_iter();
        let given_anew = named.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let known = known.iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
        *given = merged(known.collect(), given_anew);
    }
    named_headers(fields, "custom_headers")
}

/// The same, as a task has them. They are kept with its event, so they have the bound of an event's headers.
pub(crate) fn task_headers(fields: &mut Fields) -> Result<Headers, ApiError> {
    let headers = named_headers(fields, "headers")?;
    if headers.as_text().len() > EVENT_HEADER_BYTES_MAX {
        let allowed = format!("must be at most {EVENT_HEADER_BYTES_MAX} bytes in all");
        return Err(ApiError::field("headers", allowed));
    }
    Ok(headers)
}

fn named_headers(fields: &mut Fields, field: &'static str) -> Result<Headers, ApiError> {
    let allowed = format!("must be an object of at most {CUSTOM_HEADERS_MAX} header names and text values");
    let refused = || ApiError::field(field, &allowed);
    let Some(value) = fields.take(field) else { return Ok(Headers::default()) };
    let Value::Object(object) = value else { return Err(refused()) };
    if object.len() > CUSTOM_HEADERS_MAX {
        return Err(refused());
    }
    let mut headers = Headers::default();
    for (name, value) in &object {
        let value = value.as_str().filter(|text| HeaderValue::try_from(*text).is_ok()).ok_or_else(refused)?;
        headers.push(&header_name(field, name)?, value);
    }
    Ok(headers)
}

/// Names that the gateway itself must be sure of.
const RESERVED: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "keep-alive",
];

fn header_name(field: &str, name: &str) -> Result<String, ApiError> {
    let lower = name.to_ascii_lowercase();
    // Receivers behind CGI or WSGI do not tell the two apart.
    let folded = lower.replace('_', "-");
    let ours = folded.starts_with("webhook-") || folded.starts_with("postrider-");
    let reserved = ours || RESERVED.contains(&folded.as_str());
    if reserved || HeaderName::try_from(lower.as_str()).is_err() {
        let allowed = "must hold legal header names, and none that the gateway sets itself (host, content-length, webhook-…, postrider-… and the like)";
        return Err(ApiError::field(field, allowed));
    }
    Ok(lower)
}
