//! Retry policies in the form the API speaks, which is also how stores keep them.

use postrider_core::final_status::{FinalStatus, FinalStatuses};
use postrider_core::retry::{BadField, Jitter, RetryPolicy, Schedule};
use serde_json::{Map, Value, json};
use std::time::Duration;

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
    let finals = policy.final_statuses().named();
    if !finals.is_empty() {
        object["final_statuses"] = finals.iter().map(final_to_json).collect();
    }
    object
}

/// The parts of a retry policy.
pub const POLICY_PARTS: [&str; 10] = [
    "preset",
    "delays_seconds",
    "backoff",
    "base_seconds",
    "factor",
    "cap_seconds",
    "max_attempts",
    "max_age_seconds",
    "jitter",
    "final_statuses",
];

/// What `backoff` alone understands. Beside another schedule they would be left out without a word.
const BACKOFF_FIELDS: [&str; 3] = ["base_seconds", "factor", "cap_seconds"];

/// A retry policy from the form the API speaks. Everything in it is checked.
pub fn policy_from_json(value: &Value) -> Result<RetryPolicy, BadField> {
    let Value::Object(object) = value else { return Err(bad("retry_policy", "must be an object")) };
    if let Some(unknown) = object.keys().find(|key| !POLICY_PARTS.contains(&key.as_str())) {
        let allowed = format!("has the unknown field {unknown:?}; allowed are {}", POLICY_PARTS.join(", "));
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
    let finals = finals_from_json(object.get("final_statuses"))?;
    Ok(RetryPolicy::new(schedule, max_attempts, max_age, jitter)?.with_final_statuses(finals))
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
    if !named.contains(&"backoff")
        && let Some(lonely) = BACKOFF_FIELDS.into_iter().find(|key| object.contains_key(*key))
    {
        return Err(bad(lonely, "has no meaning without backoff; give \"backoff\": \"exponential\" as well"));
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

fn finals_from_json(value: Option<&Value>) -> Result<FinalStatuses, BadField> {
    let Some(value) = value else { return Ok(FinalStatuses::default()) };
    let one = |named: &Value| match named {
        Value::String(word) => FinalStatus::from_word(word),
        number => number.as_u64().and_then(FinalStatus::from_code),
    };
    let all = value.as_array().and_then(|named| named.iter().map(one).collect::<Option<Vec<_>>>());
    let allowed = "must be a list of statuses from 300 to 499, \"3xx\" and \"4xx\"";
    all.map(FinalStatuses::new).ok_or_else(|| bad("final_statuses", allowed))
}

fn final_to_json(status: &FinalStatus) -> Value {
    match status {
        FinalStatus::Code(code) => (*code).into(),
        FinalStatus::Class3xx => "3xx".into(),
        FinalStatus::Class4xx => "4xx".into(),
    }
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
            r#"{"delays_seconds":[1],"max_attempts":2,"jitter":"full","final_statuses":[400,"3xx",404,"4xx",429]}"#,
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
            (json!({"max_age_seconds": 0.5}), "max_age_seconds"),
            (json!({"max_age_seconds": 31_536_001}), "max_age_seconds"),
            (json!({"base_seconds": 5}), "base_seconds"),
            (json!({"factor": 3, "max_attempts": 5}), "factor"),
            (json!({"preset": "standard", "cap_seconds": 60}), "cap_seconds"),
            (json!({"delays_seconds": [1], "base_seconds": 5}), "base_seconds"),
            (json!({"jitter": "some"}), "jitter"),
            (json!({"final_statuses": 404}), "final_statuses"),
            (json!({"final_statuses": "4xx"}), "final_statuses"),
            (json!({"final_statuses": [500]}), "final_statuses"),
            (json!({"final_statuses": [404, "5xx"]}), "final_statuses"),
            (json!({"final_statuses": [404.5]}), "final_statuses"),
            (json!({"final_statuses": [-1]}), "final_statuses"),
            (json!({"final_statuses": [null]}), "final_statuses"),
        ] {
            assert_eq!(policy_from_json(&value).unwrap_err().field, field, "{value}");
        }
    }
}
