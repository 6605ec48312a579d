//! A destination's rate limit and circuit in the form that the API and the settings file speak.

use postrider_core::destination::{CircuitParts, CircuitPolicy, CircuitTrip, RateLimit};
use postrider_core::retry::BadField;
use serde_json::{Map, Value, json};

/// The parts of a rate limit.
pub const RATE_PARTS: [&str; 2] = ["per_second", "burst"];
/// The parts of a circuit.
pub const CIRCUIT_PARTS: [&str; 6] = [
    "threshold",
    "failure_percent",
    "window_attempts",
    "window_seconds",
    "cooldown_seconds",
    "cooldown_max_seconds",
];

/// A rate limit from its object. Everything in it is checked; the error's field is the part's name, or empty.
pub fn rate_from_json(value: &Value) -> Result<RateLimit, BadField> {
    let object = object(value, &RATE_PARTS)?;
    // What is no number is out of range as well.
    let per_second = object.get("per_second").and_then(Value::as_f64).unwrap_or(f64::NAN);
    RateLimit::new(per_second, whole(object, "burst"))
}

/// A rate limit as its object.
pub fn rate_to_json(limit: RateLimit) -> Value {
    json!({ "per_second": limit.per_second(), "burst": limit.burst() })
}

/// A circuit from its object, as for [`rate_from_json`].
pub fn circuit_from_json(value: &Value) -> Result<CircuitPolicy, BadField> {
    let object = object(value, &CIRCUIT_PARTS)?;
    let parts = CIRCUIT_PARTS.map(|part| whole(object, part));
    let [threshold, failure_percent, window_attempts, window_seconds, cooldown_seconds, cooldown_max_seconds] =
        parts;
    CircuitPolicy::from_parts(CircuitParts {
        threshold,
        failure_percent,
        window_attempts,
        window_seconds,
        cooldown_seconds,
        cooldown_max_seconds,
    })
}

/// A circuit as its object.
pub fn circuit_to_json(policy: CircuitPolicy) -> Value {
    let (cooldown, cooldown_max) = (policy.cooldown().as_secs(), policy.cooldown_max().as_secs());
    match policy.trip() {
        CircuitTrip::InARow(threshold) => json!({
            "threshold": threshold,
            "cooldown_seconds": cooldown,
            "cooldown_max_seconds": cooldown_max,
        }),
        CircuitTrip::ByRate(rate) => json!({
            "failure_percent": rate.percent(),
            "window_attempts": rate.attempts(),
            "window_seconds": rate.window().as_secs(),
            "cooldown_seconds": cooldown,
            "cooldown_max_seconds": cooldown_max,
        }),
    }
}

fn object<'a>(value: &'a Value, parts: &[&str]) -> Result<&'a Map<String, Value>, BadField> {
    let bad = |allowed| BadField { field: "", allowed };
    let Value::Object(object) = value else {
        return Err(bad(format!("must be an object of {}", parts.join(", "))));
    };
    match object.keys().find(|key| !parts.contains(&key.as_str())) {
        Some(unknown) => {
            Err(bad(format!("has the unknown field {unknown:?}; allowed are {}", parts.join(", "))))
        }
        None => Ok(object),
    }
}

/// A whole number inside an object. Zero is never legal, so it stands in for what is no whole number at all.
fn whole(object: &Map<String, Value>, part: &str) -> Option<u64> {
    object.get(part).filter(|value| !value.is_null()).map(|value| value.as_u64().unwrap_or(0))
}
