//! What of a retry policy stays when another schedule is named.

use postrider_core::retry::RetryPolicy;
use postrider_store::codec::policy_to_json;
use serde_json::{Map, Value};

/// The parts that together are a schedule, `backoff` and what belongs to it.
const SCHEDULE: [&str; 5] = ["delays_seconds", "backoff", "base_seconds", "factor", "cap_seconds"];

/// The parts of a policy over which others are laid. A schedule takes the place of the one before; the attempts that this
/// one came to go with it, since the other comes to others, and those that somebody chose stay.
pub(super) fn named_anew(known: &RetryPolicy, given: &Map<String, Value>) -> Value {
    let mut kept = policy_to_json(known);
    let grows = kept.get("backoff").is_some() && given.get("backoff").is_some_and(|value| !value.is_null());
    let names = ["preset", "delays_seconds", "backoff"].iter().any(|part| given.contains_key(*part));
    if !names || grows {
        return kept;
    }
    let Some(parts) = kept.as_object_mut() else { return kept };
    SCHEDULE.iter().for_each(|part| drop(parts.remove(*part)));
    let usual = RetryPolicy::new(known.schedule().clone(), None, known.max_age(), known.jitter());
    let is_usual = usual.is_ok_and(|usual| usual.max_attempts() == known.max_attempts());
    if is_usual || given.contains_key("preset") {
        parts.remove("max_attempts");
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::api::destinations::policy;
    use crate::api::fields::Fields;
    use postrider_store::codec::{policy_from_json, policy_to_json};
    use serde_json::{Map, Value, json};

    #[test]
    fn what_is_not_given_stays_and_another_schedule_takes_the_place_of_the_one_before() {
        let five = json!({ "delays_seconds": [1, 2, 3, 4, 5], "jitter": "none", "final_statuses": ["4xx"] });
        let chosen = json!({ "delays_seconds": [1, 2, 3], "max_attempts": 2, "max_age_seconds": 60 });
        let growing = json!({ "backoff": "exponential", "base_seconds": 9, "factor": 3, "max_attempts": 7 });
        for (known, given, meant) in [
            (&five, json!({}), five.clone()),
            (&five, json!({ "max_age_seconds": 60 }), with(&five, json!({ "max_age_seconds": 60 }))),
            (&five, json!({ "jitter": null }), with(&five, json!({ "jitter": "full" }))),
            (&five, json!({ "delays_seconds": [9] }), with(&five, json!({ "delays_seconds": [9] }))),
            (
                &chosen,
                json!({ "delays_seconds": [9, 9] }),
                with(&chosen, json!({ "delays_seconds": [9, 9] })),
            ),
            (&chosen, json!({ "preset": "waford" }), json!({ "preset": "waford", "max_age_seconds": 60 })),
            (
                &chosen,
                json!({ "backoff": "exponential", "cap_seconds": 60 }),
                json!({ "backoff": "exponential", "cap_seconds": 60, "max_attempts": 2, "max_age_seconds": 60 }),
            ),
            (&growing, json!({ "base_seconds": 4 }), with(&growing, json!({ "base_seconds": 4 }))),
            (&growing, json!({ "max_attempts": 3 }), with(&growing, json!({ "max_attempts": 3 }))),
            (
                &growing,
                json!({ "backoff": "exponential", "factor": null }),
                with(&growing, json!({ "factor": 2 })),
            ),
        ] {
            let known = policy_from_json(known).unwrap();
            let mut fields = Fields::of(Map::from_iter([("retry_policy".to_owned(), given.clone())]));
            let merged = policy(&mut fields, Some(&known)).ok().flatten().expect("it is legal");
            let meant = policy_from_json(&meant).unwrap();
            assert_eq!(policy_to_json(&merged), policy_to_json(&meant), "{given}");
        }
    }

    fn with(known: &Value, parts: Value) -> Value {
        let mut all = known.clone();
        let (Value::Object(into), Value::Object(parts)) = (&mut all, parts) else {
            panic!("both are objects")
        };
        into.extend(parts);
        all
    }
}
