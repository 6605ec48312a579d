//! Every field of a request that takes a text is either planted with a marker or listed here as no secret. So a new
//! secret cannot be forgotten.

use super::planted::PLANTED;
use crate::rig::contract::DOCUMENT;
use serde_json::Value;
use std::collections::BTreeSet;

/// Fields that are shown to whoever may see the object.
const NO_SECRETS: &[&str] = &[
    "auth_config.header",
    "auth_config.username",
    "ca_pem",
    "client_certificate.certificate_pem",
    "company_name",
    "deliver_at",
    "delivery_ids",
    "description",
    "destination_id",
    "docs_title",
    "email",
    "event_type",
    "event_type_from.header",
    "event_type_from.json_pointer",
    "event_type_pattern",
    "expires_at",
    "external_event_id",
    "filter",
    "filter.delivery_ids",
    "filter.destination_id",
    "filter.event_type",
    "filter.since",
    "filter.source_id",
    "filter.until",
    "headers",
    "idempotency_key_from.header",
    "idempotency_key_from.json_pointer",
    "logo_url",
    "name",
    "operational_destination_id",
    "ordering_key",
    "plan",
    "preset",
    "primary_color",
    "priority_rules.header",
    "priority_rules.prefix",
    "priority_rules.suffix",
    "priority_rules.type",
    "priority_rules.value",
    "priority_rules.when",
    "provider",
    "retry_policy.final_statuses",
    "return_url",
    "route_id",
    "since",
    "source_id",
    "support_email",
    "transform",
    "until",
    "url",
    "verification_config.challenge",
    "verification_config.encoding",
    "verification_config.header",
    "verification_config.id_header",
    "verification_config.prefix",
    "verification_config.public_key",
    "verification_config.scheme",
    "verification_config.separator",
    "verification_config.signed",
    "verification_config.timestamp.entry",
    "verification_config.timestamp.header",
    "verification_config.timestamp.json_pointer",
    "verification_config.timestamp.unit",
];

/// Secrets that are planted by hand: their texts are made when the test runs.
const MADE_ON_THE_SPOT: &[&str] = &["client_certificate.private_key_pem"];

/// The paths of all texts, and of all maps of texts, below a schema.
fn texts(schema: &'static Value, path: &str, depth: usize, found: &mut BTreeSet<String>) {
    if depth > 8 {
        return;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap();
        return texts(target, path, depth + 1, found);
    }
    for ways in ["oneOf", "anyOf", "allOf"] {
        schema[ways].as_array().into_iter().flatten().for_each(|way| texts(way, path, depth + 1, found));
    }
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&kind.into()))
    };
    let listed = !schema["enum"].is_null() || !schema["const"].is_null();
    if is("string") && !listed || schema["additionalProperties"].is_object() {
        found.insert(path.to_owned());
    }
    if is("array") {
        texts(&schema["items"], path, depth + 1, found);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        // A route that is tried has the fields of one that is made.
        let inside = if path.is_empty() || path == "route" { name.clone() } else { format!("{path}.{name}") };
        texts(inner, &inside, depth + 1, found);
    }
}

#[test]
fn every_text_that_a_request_takes_is_planted_or_no_secret() {
    let mut found = BTreeSet::new();
    for item in DOCUMENT["paths"].as_object().unwrap().values() {
        for call in item.as_object().unwrap().values() {
            texts(&call["requestBody"]["content"]["application/json"]["schema"], "", 0, &mut found);
        }
    }
    let planted: BTreeSet<&str> =
        PLANTED.iter().map(|(field, _)| *field).chain(MADE_ON_THE_SPOT.iter().copied()).collect();
    let known = |field: &&String| planted.contains(field.as_str()) || NO_SECRETS.contains(&field.as_str());
    let unknown: Vec<&String> = found.iter().filter(|field| !known(field)).collect();
    assert!(unknown.is_empty(), "plant a marker in these, or list them as no secrets: {unknown:#?}");
    let gone: Vec<&&str> =
        planted.iter().chain(NO_SECRETS).filter(|field| !found.contains(**field)).collect();
    assert!(gone.is_empty(), "no request takes these any more: {gone:?}");
}
