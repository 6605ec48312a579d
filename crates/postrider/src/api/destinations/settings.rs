//! The settings of a destination that say how it is sent to: rate, order, circuit.

use crate::api::error::ApiError;
use crate::api::fields::{Fields, legal_expression, only};
use postrider_core::destination::{CircuitPolicy, OnDeadLetter, Ordering, RateLimit};
use postrider_core::limits::EXPRESSION_BYTES_MAX;
use postrider_core::retry::BadField;
use postrider_engine::Wants;
use postrider_store::Destination;
use serde_json::{Map, Value};

/// Takes over what the caller gives. `null` takes an optional one away and brings the circuit's default back.
pub(super) fn settings(mut into: Destination, fields: &mut Fields) -> Result<Destination, ApiError> {
    if fields.mentions("rate_limit") {
        into.rate_limit = rate_limit(fields)?;
    }
    if fields.mentions("circuit") {
        into.circuit = circuit(fields)?;
    }
    into.adaptive = fields.switch("adaptive")?.unwrap_or(into.adaptive);
    let on_dead_letter = fields.word("on_dead_letter", OnDeadLetter::from_word, "must be block or skip")?;
    into.on_dead_letter = on_dead_letter.unwrap_or(into.on_dead_letter);
    let ordering = fields.word("ordering", Ordering::from_word, "must be none, strict or by_key")?;
    into.ordering = ordering.unwrap_or(into.ordering);
    if fields.mentions("ordering_key") {
        into.ordering_key = ordering_key(fields)?;
    }
    check_order(&into)?;
    Ok(into)
}

/// A key without an order by it, or such an order without a key, would silently do something else.
fn check_order(destination: &Destination) -> Result<(), ApiError> {
    match (destination.ordering, &destination.ordering_key) {
        (Ordering::ByKey, None) => Err(ApiError::field(
            "ordering_key",
            "is missing: ordering by_key needs an expression for the key",
        )),
        (Ordering::None | Ordering::Strict, Some(_)) => {
            let allowed = "is only allowed with ordering by_key; null takes it away";
            Err(ApiError::field("ordering_key", allowed))
        }
        (Ordering::ByKey, Some(_)) | (Ordering::None | Ordering::Strict, None) => Ok(()),
    }
}

fn ordering_key(fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let Some(text) = fields.text("ordering_key")? else { return Ok(None) };
    if text.trim().is_empty() || text.len() > EXPRESSION_BYTES_MAX {
        let allowed = format!("must be a CEL expression of 1 to {EXPRESSION_BYTES_MAX} bytes");
        return Err(ApiError::field("ordering_key", allowed));
    }
    legal_expression("ordering_key", &text, Wants::Key)?;
    Ok(Some(text))
}

fn rate_limit(fields: &mut Fields) -> Result<Option<RateLimit>, ApiError> {
    let Some(object) = object(fields, "rate_limit", &["per_second", "burst"])? else { return Ok(None) };
    // What is no number is out of range as well.
    let per_second = object.get("per_second").and_then(Value::as_f64).unwrap_or(f64::NAN);
    let limit = RateLimit::new(per_second, whole(&object, "burst"));
    limit.map(Some).map_err(|bad| inner("rate_limit", &bad))
}

fn circuit(fields: &mut Fields) -> Result<CircuitPolicy, ApiError> {
    let parts = ["threshold", "cooldown_seconds", "cooldown_max_seconds"];
    let Some(object) = object(fields, "circuit", &parts)? else { return Ok(CircuitPolicy::default()) };
    let [threshold, cooldown, cooldown_max] = parts.map(|part| whole(&object, part));
    CircuitPolicy::new(threshold, cooldown, cooldown_max).map_err(|bad| inner("circuit", &bad))
}

fn object(
    fields: &mut Fields,
    field: &'static str,
    parts: &[&str],
) -> Result<Option<Map<String, Value>>, ApiError> {
    let Some(value) = fields.take(field) else { return Ok(None) };
    let Value::Object(object) = value else {
        return Err(ApiError::field(field, format!("must be an object of {}", parts.join(", "))));
    };
    only(field, &object, parts)?;
    Ok(Some(object))
}

/// A whole number inside an object. Zero is never legal, so it stands in for what is no whole number at all.
fn whole(object: &Map<String, Value>, part: &str) -> Option<u64> {
    object.get(part).filter(|value| !value.is_null()).map(|value| value.as_u64().unwrap_or(0))
}

fn inner(within: &str, bad: &BadField) -> ApiError {
    ApiError::field(&format!("{within}.{}", bad.field), &bad.allowed)
}
