//! No JSON breaks the reader of a setting, and what is taken is written and read back as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_store::DeadLetterFilter;
use postrider_store::codec::{
    circuit_from_json, circuit_to_json, field_place_from_json, field_place_to_json, policy_from_json, policy_to_json,
    rate_from_json, rate_to_json, rules_from_json, rules_to_json,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = serde_json::from_slice(bytes) else { return };
    if let Ok(policy) = policy_from_json(&value) {
        assert_eq!(policy_from_json(&policy_to_json(&policy)), Ok(policy));
    }
    if let Ok(rules) = rules_from_json(&value) {
        assert_eq!(rules_from_json(&rules_to_json(&rules)), Ok(rules));
    }
    if let Ok(limit) = rate_from_json(&value) {
        assert_eq!(rate_from_json(&rate_to_json(limit)), Ok(limit));
    }
    if let Ok(circuit) = circuit_from_json(&value) {
        assert_eq!(circuit_from_json(&circuit_to_json(circuit)), Ok(circuit));
    }
    if let Some(place) = field_place_from_json(&value) {
        assert_eq!(field_place_from_json(&field_place_to_json(&place)), Some(place));
    }
    if let Ok(filter) = DeadLetterFilter::from_json(&value) {
        assert_eq!(DeadLetterFilter::from_json(&filter.to_json()), Ok(filter));
    }
});
