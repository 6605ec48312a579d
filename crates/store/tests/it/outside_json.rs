//! No JSON from outside breaks the reader of a setting, and what is taken is written and read back as the same.

use postrider_store::DeadLetterFilter;
use postrider_store::codec::{
    circuit_from_json, circuit_to_json, field_place_from_json, field_place_to_json, policy_from_json,
    policy_to_json, rate_from_json, rate_to_json, rules_from_json, rules_to_json,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

/// The names of fields, so that what is made up is not refused for its names alone.
const NAMES: [&str; 34] = [
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
    "per_second",
    "burst",
    "cooldown_seconds",
    "cooldown_max_seconds",
    "type",
    "prefix",
    "suffix",
    "when",
    "value",
    "header",
    "priority",
    "json_pointer",
    "destination_id",
    "source_id",
    "event_type",
    "reason",
    "since",
    "until",
    "delivery_ids",
    "threshold",
    "failure_percent",
    "window_attempts",
    "window_seconds",
    "x",
];

/// Values that are right somewhere, and values that are right nowhere.
fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..300i64).prop_map(Value::from),
        (0.0..300.0f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[45](xx|[0-9]{2})(-4[0-9]{2})?".prop_map(Value::from),
        prop::sample::select(
            &[
                "exponential",
                "full",
                "none",
                "standard",
                "a.*",
                "**",
                "2026-01-31T12:00:00Z",
                "x-priority",
                "/a/b",
                "4xx",
                "dst_0000000000001",
                "src_0000000000001",
                "dlv_0000000000001",
                "attempts_exhausted",
                "true",
            ][..]
        )
        .prop_map(Value::from),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 6, |inner| {
        let name =
            prop_oneof![8 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

/// A retry policy that is legal more often than not.
fn policy() -> impl Strategy<Value = Value> {
    let delays =
        prop::collection::vec(0.0..100_000.0f64, 0..12).prop_map(|all| json!({ "delays_seconds": all }));
    let growing = (0.001..5000.0f64, 0.5..20.0f64, 0.001..500_000.0f64).prop_map(|(base, factor, cap)| {
        json!({ "backoff": "exponential", "base_seconds": base, "factor": factor, "cap_seconds": cap })
    });
    let finals =
        prop::collection::vec(prop_oneof![(390..610u64).prop_map(Value::from), Just(json!("4xx"))], 0..4);
    (prop_oneof![delays, growing], 0..60u64, 0.0..3_000_000.0f64, finals).prop_map(
        |(mut policy, attempts, age, finals)| {
            policy["max_attempts"] = attempts.into();
            policy["max_age_seconds"] = age.into();
            policy["final_statuses"] = finals.into();
            policy
        },
    )
}

proptest! {
    #[test]
    fn settings_are_taken_or_refused_and_read_back(value in json_value()) {
        if let Ok(limit) = rate_from_json(&value) {
            prop_assert_eq!(rate_from_json(&rate_to_json(limit)), Ok(limit));
        }
        if let Ok(circuit) = circuit_from_json(&value) {
            prop_assert_eq!(circuit_from_json(&circuit_to_json(circuit)), Ok(circuit));
        }
        if let Ok(rules) = rules_from_json(&value) {
            prop_assert_eq!(rules_from_json(&rules_to_json(&rules)), Ok(rules));
        }
        if let Some(place) = field_place_from_json(&value) {
            prop_assert_eq!(field_place_from_json(&field_place_to_json(&place)), Some(place));
        }
        if let Ok(filter) = DeadLetterFilter::from_json(&value) {
            prop_assert_eq!(DeadLetterFilter::from_json(&filter.to_json()), Ok(filter));
        }
    }

    #[test]
    fn a_retry_policy_is_read_back_as_it_was_taken(value in prop_oneof![policy(), json_value()]) {
        if let Ok(policy) = policy_from_json(&value) {
            prop_assert_eq!(policy_from_json(&policy_to_json(&policy)), Ok(policy));
        }
    }
}

#[test]
fn what_is_made_up_is_legal_often_enough() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let made = |runner: &mut _| policy().new_tree(runner).unwrap().current();
    let legal = (0..200).filter(|_| policy_from_json(&made(&mut runner)).is_ok()).count();
    assert!(legal > 20, "only {legal} of 200 policies are legal");
}
