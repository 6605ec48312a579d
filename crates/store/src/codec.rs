//! The text forms that stores and the API share: fan-out lists, retry policies, what follows.

use crate::batch::NewDelivery;
use postrider_core::delivery::Priority;
use postrider_core::id::{DeliveryId, DestinationId, RouteId};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::retry::{BadField, Jitter, RetryPolicy, Schedule};
use postrider_core::time::Timestamp;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::time::Duration;

/// A fan-out as `[[delivery, destination, route, priority], …]`, so that SQL can look into it.
pub fn deliveries_to_text(deliveries: &[NewDelivery]) -> String {
    let mut text = String::with_capacity(2 + deliveries.len() * 64);
    text.push('[');
    for (index, owed) in deliveries.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let (id, destination, route) = (owed.id.as_u64(), owed.destination.as_u64(), owed.route.as_u64());
        let _ = write!(text, "{comma}[{id},{destination},{route},{}]", owed.priority.number());
    }
    text.push(']');
    text
}

/// A fan-out from its text, without what it was ordered by; `None` when it is none.
pub fn deliveries_from_text(text: &str) -> Option<Vec<NewDelivery>> {
    let rows: Vec<(u64, u64, u64, u64)> = serde_json::from_str(text).ok()?;
    let delivery = |(id, destination, route, priority)| {
        Some(NewDelivery {
            id: DeliveryId::from_u64(id),
            destination: DestinationId::from_u64(destination),
            route: RouteId::from_u64(route),
            priority: Priority::from_number(priority)?,
            order: None,
        })
    };
    rows.into_iter().map(delivery).collect()
}

/// What follows an attempt, as a word and a time.
pub fn next_to_words(next: Next) -> (&'static str, Option<Timestamp>) {
    match next {
        Next::Delivered => ("delivered", None),
        Next::Retry { due } => ("retry", Some(due)),
        Next::Dead(reason) => (reason.as_str(), None),
    }
}

/// What follows an attempt, from its word and time.
pub fn next_from_words(word: &str, due: Option<Timestamp>) -> Option<Next> {
    match (word, due) {
        ("delivered", _) => Some(Next::Delivered),
        ("retry", Some(due)) => Some(Next::Retry { due }),
        _ => DeathReason::from_word(word).map(Next::Dead),
    }
}

/// A retry policy in the form the API speaks.
pub fn policy_to_json(policy: &RetryPolicy) -> Value {
    let mut object = match policy.schedule() {
        Schedule::Delays(delays) => {
            let seconds: Vec<Value> = delays.iter().map(|delay| seconds_to_json(*delay)).collect();
            json!({ "delays_seconds": seconds })
        }
        Schedule::Exponential { base, factor, cap } => json!({
            "backoff": "exponential",
            "base_seconds": seconds_to_json(*base),
            "factor": factor,
            "cap_seconds": seconds_to_json(*cap),
        }),
    };
    object["max_attempts"] = policy.max_attempts().into();
    if let Some(age) = policy.max_age() {
        object["max_age_seconds"] = seconds_to_json(age);
    }
    object["jitter"] = match policy.jitter() {
        Jitter::Full => "full".into(),
        Jitter::None => "none".into(),
    };
    object
}

const POLICY_FIELDS: [&str; 9] = [
    "preset",
    "delays_seconds",
    "backoff",
    "base_seconds",
    "factor",
    "cap_seconds",
    "max_attempts",
    "max_age_seconds",
    "jitter",
];

/// A retry policy from the form the API speaks. Everything in it is checked.
pub fn policy_from_json(value: &Value) -> Result<RetryPolicy, BadField> {
    let Value::Object(object) = value else { return Err(bad("retry_policy", "must be an object")) };
    if let Some(unknown) = object.keys().find(|key| !POLICY_FIELDS.contains(&key.as_str())) {
        let allowed = format!("has the unknown field {unknown:?}; allowed are {}", POLICY_FIELDS.join(", "));
        return Err(BadField { field: "retry_policy", allowed });
    }
    let (schedule, preset_attempts) = schedule_from_json(object)?;
    let max_attempts = match object.get("max_attempts") {
        None => preset_attempts,
        // A number that is no whole number cannot be in range either.
        Some(asked) => Some(asked.as_u64().unwrap_or(0)),
    };
    let max_age =
        object.get("max_age_seconds").map(|age| seconds_from_json("max_age_seconds", age)).transpose()?;
    let jitter = match object.get("jitter").map(Value::as_str) {
        None | Some(Some("full")) => Jitter::Full,
        Some(Some("none")) => Jitter::None,
        Some(_) => return Err(bad("jitter", "must be \"full\" or \"none\"")),
    };
    RetryPolicy::new(schedule, max_attempts, max_age, jitter)
}

/// The schedule, and the attempts that a preset brings with it.
fn schedule_from_json(object: &Map<String, Value>) -> Result<(Schedule, Option<u64>), BadField> {
    let named: Vec<&str> =
        ["preset", "delays_seconds", "backoff"].into_iter().filter(|key| object.contains_key(*key)).collect();
    if named.len() > 1 {
        let allowed =
            format!("must name one of preset, delays_seconds and backoff, not {}", named.join(" and "));
        return Err(BadField { field: "retry_policy", allowed });
    }
    match named.first().copied() {
        Some("preset") => preset(&object["preset"]),
        Some("delays_seconds") => Ok((delays_from_json(&object["delays_seconds"])?, None)),
        Some(_) => Ok((exponential_from_json(object)?, None)),
        None => Ok((RetryPolicy::default().schedule().clone(), None)),
    }
}

fn preset(name: &Value) -> Result<(Schedule, Option<u64>), BadField> {
    const HOUR: u64 = 3600;
    match name.as_str() {
        Some("standard") => Ok((RetryPolicy::default().schedule().clone(), None)),
        Some("waford") => {
            let schedule = Schedule::Exponential {
                base: Duration::from_secs(1),
                factor: 2.0,
                cap: Duration::from_secs(300),
            };
            Ok((schedule, Some(4)))
        }
        Some("standard-webhooks") => {
            let seconds = [5, 300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
                .map(Duration::from_secs);
            Ok((Schedule::Delays(seconds.to_vec()), None))
        }
        _ => Err(bad("preset", "must be \"standard\", \"waford\" or \"standard-webhooks\"")),
    }
}

fn delays_from_json(value: &Value) -> Result<Schedule, BadField> {
    let Value::Array(delays) = value else {
        return Err(bad("delays_seconds", "must be an array of seconds"));
    };
    let delays: Result<_, _> =
        delays.iter().map(|delay| seconds_from_json("delays_seconds", delay)).collect();
    Ok(Schedule::Delays(delays?))
}

fn exponential_from_json(object: &Map<String, Value>) -> Result<Schedule, BadField> {
    if object["backoff"].as_str() != Some("exponential") {
        return Err(bad("backoff", "must be \"exponential\""));
    }
    let seconds = |field: &'static str, default: u64| match object.get(field) {
        Some(value) => seconds_from_json(field, value),
        None => Ok(Duration::from_secs(default)),
    };
    let factor = match object.get("factor") {
        Some(value) => value.as_f64().ok_or_else(|| bad("factor", "must be a number"))?,
        None => 2.0,
    };
    Ok(Schedule::Exponential {
        base: seconds("base_seconds", 30)?,
        factor,
        cap: seconds("cap_seconds", 21_600)?,
    })
}

fn seconds_from_json(field: &'static str, value: &Value) -> Result<Duration, BadField> {
    value
        .as_f64()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| bad(field, "must be a number of seconds, not negative"))
}

fn seconds_to_json(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 { duration.as_secs().into() } else { duration.as_secs_f64().into() }
}

fn bad(field: &'static str, allowed: &str) -> BadField {
    BadField { field, allowed: allowed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_go_there_and_back() {
        for text in [
            r#"{"delays_seconds":[1,2.5],"max_attempts":3,"jitter":"none"}"#,
            r#"{"backoff":"exponential","base_seconds":1,"factor":2.0,"cap_seconds":300,"max_attempts":4,"max_age_seconds":60,"jitter":"full"}"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(policy_to_json(&policy_from_json(&value).unwrap()), value);
        }
    }

    #[test]
    fn presets_are_what_they_are_named_after() {
        let attempts = |name| policy_from_json(&json!({ "preset": name })).unwrap().max_attempts();
        assert_eq!((attempts("standard"), attempts("waford"), attempts("standard-webhooks")), (6, 4, 10));
    }

    #[test]
    fn bad_policies_name_the_field() {
        for (value, field) in [
            (json!(5), "retry_policy"),
            (json!({"delay": 1}), "retry_policy"),
            (json!({"preset": "x"}), "preset"),
            (json!({"preset": "waford", "backoff": "exponential"}), "retry_policy"),
            (json!({"delays_seconds": 5}), "delays_seconds"),
            (json!({"delays_seconds": ["a"]}), "delays_seconds"),
            (json!({"delays_seconds": [-1]}), "delays_seconds"),
            (json!({"delays_seconds": [1e300]}), "delays_seconds"),
            (json!({"backoff": "linear"}), "backoff"),
            (json!({"max_attempts": 1.5}), "max_attempts"),
            (json!({"max_age_seconds": 0}), "max_age_seconds"),
            (json!({"jitter": "some"}), "jitter"),
        ] {
            assert_eq!(policy_from_json(&value).unwrap_err().field, field, "{value}");
        }
    }
}
