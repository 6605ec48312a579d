//! The API by the wire that GetHook's users know: envelope, statuses, fields, and who may see what.

mod accounts;
mod audit;
mod dead_letters;
mod described_fields;
mod destination_health;
mod destinations;
mod document;
mod entity_tags;
mod event_types;
mod events;
mod export;
mod filters;
mod gethook_client;
mod gethook_clients;
mod health;
mod key_settings;
mod keys;
mod looking;
mod merging;
mod outbound;
mod paging;
mod portal;
mod priorities;
mod rejects;
mod replays;
mod routes;
mod scopes;
mod settings;
mod sources;
mod standing;
mod stream;
mod tenants;
mod transforms;
mod unrouted;
mod wrong_keys;

use serde_json::Value;

/// Fails unless an object has exactly these fields; those that end in `?` may be missing.
fn check_fields(object: &Value, fields: &str) {
    let object = object.as_object().unwrap_or_else(|| panic!("not an object: {object}"));
    let known: Vec<&str> = fields.split_whitespace().map(|field| field.trim_end_matches('?')).collect();
    let required = fields.split_whitespace().filter(|field| !field.ends_with('?'));
    let missing: Vec<&str> = required.filter(|field| !object.contains_key(*field)).collect();
    let unknown: Vec<&String> = object.keys().filter(|field| !known.contains(&field.as_str())).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing {missing:?}, unknown {unknown:?} in {object:?}"
    );
}

/// Fails unless it is a time such as `2025-01-31T12:00:00.123Z`.
fn check_time(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("not a time: {value}"));
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let (whole, fraction) =
        shape.trim_end_matches('Z').split_once('.').unwrap_or((shape.trim_end_matches('Z'), "0"));
    let legal = whole == "0000-00-00T00:00:00" && fraction.chars().all(|c| c == '0') && shape.ends_with('Z');
    assert!(legal, "not a time in UTC by RFC 3339: {text}");
}
