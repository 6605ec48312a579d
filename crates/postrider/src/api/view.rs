//! What objects look like on the wire. Secrets are not in here, so they cannot be shown.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use postrider_core::breaker::Circuit;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::scheduler::{DestinationView, LimitReason};
use postrider_store::codec::{
    circuit_to_json, field_place_to_json, policy_to_json, rate_to_json, rules_to_json,
};
use postrider_store::{
    Account, ApiKey, Attempt, DeliveryState, Destination, DestinationAuth, EventDetail, EventStatus, Headers,
    Route, Source,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// A success: the value in its envelope.
pub(crate) fn data(status: StatusCode, value: &Value) -> Response {
    json_text(status, json!({ "data": value }).to_string())
}

/// JSON that is written already.
pub(crate) fn json_text(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(crate) fn account(account: &Account) -> Value {
    let mut object = json!({
        "id": account.id.to_string(),
        "name": account.name,
        "plan": "self-hosted",
        "weight": account.weight.get(),
        "created_at": account.created_at.to_string(),
    });
    let limits = [
        ("max_in_flight", account.max_in_flight.map(u64::from)),
        ("max_pending", account.max_pending),
        ("max_pending_bytes", account.max_pending_bytes),
    ];
    for (field, limit) in limits {
        if let Some(limit) = limit {
            object[field] = limit.into();
        }
    }
    object
}

pub(crate) fn api_key(key: &ApiKey) -> Value {
    let mut object = json!({
        "id": key.id.to_string(),
        "account_id": key.account.to_string(),
        "name": key.name,
        "key_prefix": key.prefix,
        "created_at": key.created_at.to_string(),
    });
    if let Some(revoked_at) = key.revoked_at {
        object["revoked_at"] = revoked_at.to_string().into();
    }
    object
}

/// The token in the ingest URL is what senders need, so it is shown to the source's own account.
pub(crate) fn source(source: &Source, public_url: &str) -> Value {
    let (auth_mode, verification) = super::verification::shown(source);
    let mut object = json!({
        "id": source.id.to_string(),
        "account_id": source.account.to_string(),
        "name": source.name,
        "path_token": source.token,
        "ingest_url": format!("{public_url}/ingest/{}", source.token),
        "auth_mode": auth_mode,
        "status": if source.active { "active" } else { "inactive" },
        "created_at": source.created_at.to_string(),
    });
    if let Some(config) = verification {
        object["verification_config"] = config;
    }
    let places = [
        ("event_type_from", &source.event_type_from),
        ("idempotency_key_from", &source.idempotency_key_from),
    ];
    for (field, place) in places {
        if let Some(place) = place {
            object[field] = field_place_to_json(place);
        }
    }
    if let Some(provider) = &source.provider {
        object["provider"] = provider.as_str().into();
    }
    object
}

pub(crate) fn destination(destination: &Destination, seen: Option<&DestinationView>) -> Value {
    let mut object = json!({
        "id": destination.id.to_string(),
        "account_id": destination.account.to_string(),
        "name": destination.name,
        "url": destination.url,
        "timeout_seconds": destination.timeout.get(),
        "max_concurrency": destination.max_concurrency.get(),
        "ordering": destination.ordering.as_str(),
        "on_dead_letter": destination.on_dead_letter.as_str(),
        "adaptive": destination.adaptive,
        "circuit": circuit_to_json(destination.circuit),
        "active": destination.active,
        "status": destination_status(destination),
        "in_flight": seen.map_or(0, |seen| seen.in_flight),
        "pending": seen.map_or(0, |seen| seen.pending.rows),
        "pending_bytes": seen.map_or(0, |seen| seen.pending.bytes),
        "circuit_state": seen.map_or(Circuit::Closed, |seen| seen.circuit).as_str(),
        "created_at": destination.created_at.to_string(),
    });
    object["concurrency"] = concurrency(destination, seen);
    if let Some(seen) = seen {
        object["waiting_for"] = seen.why.as_str().into();
        if let Some(until) = seen.until {
            object["waiting_until"] = until.to_string().into();
        }
        if seen.blocked_keys > 0 {
            object["blocked_keys"] = seen.blocked_keys.into();
        }
    }
    if let Some(policy) = &destination.retry_policy {
        object["retry_policy"] = policy_to_json(policy);
    }
    if let Some(limit) = destination.rate_limit {
        object["rate_limit"] = rate_to_json(limit);
    }
    if let Some(key) = &destination.ordering_key {
        object["ordering_key"] = key.as_str().into();
    }
    if let Some(reason) = &destination.disabled_reason {
        object["disabled_reason"] = reason.as_str().into();
    }
    match &destination.auth {
        None => {}
        Some(DestinationAuth::Bearer { .. }) => object["auth_config"] = json!({ "type": "bearer" }),
        Some(DestinationAuth::Header { header, .. }) => {
            object["auth_config"] = json!({ "type": "header", "header": header });
        }
    }
    if !destination.custom_headers.is_empty() {
        let names =
            destination.custom_headers.iter().map(|(name, _)| (name.to_owned(), Value::from("[redacted]")));
        object["custom_headers"] = Value::Object(names.collect());
    }
    object
}

/// How many attempts at once are allowed now, and why no more.
fn concurrency(destination: &Destination, seen: Option<&DestinationView>) -> Value {
    let limit = seen.map_or(destination.max_concurrency.get(), |seen| seen.limit);
    let reason = seen.map_or(LimitReason::Configured, |seen| seen.limit_reason);
    json!({ "limit": limit, "reason": reason.as_str() })
}

fn destination_status(destination: &Destination) -> &'static str {
    match (destination.active, destination.paused) {
        (false, _) => "disabled",
        (true, true) => "paused",
        (true, false) => "active",
    }
}

pub(crate) fn route(route: &Route) -> Value {
    let mut object = json!({
        "id": route.id.to_string(),
        "account_id": route.account.to_string(),
        "destination_id": route.destination.to_string(),
        "event_type_pattern": route.pattern.as_str(),
        "priority": route.priority.number(),
        "active": route.active,
        "created_at": route.created_at.to_string(),
    });
    if !route.priority_rules.is_empty() {
        object["priority_rules"] = rules_to_json(&route.priority_rules);
    }
    if let Some(source) = route.source {
        object["source_id"] = source.to_string().into();
    }
    if let Some(policy) = &route.retry_policy {
        object["retry_policy"] = policy_to_json(policy);
    }
    object
}

pub(crate) fn event(event: &EventDetail) -> Value {
    let content = &event.content;
    let (body, encoding) = text_or_base64(&content.body);
    let status = EventStatus::of(event);
    let next = event.deliveries.iter().filter_map(|delivery| delivery.next_attempt_at).min();
    let mut object = json!({
        "id": event.id.to_string(),
        "account_id": content.account.to_string(),
        "direction": "inbound",
        "source_id": event.source.to_string(),
        "headers": header_map(&content.headers),
        "body": body,
        "body_encoding": encoding,
        "status": status.as_str(),
        "attempts_count": event.attempts.len(),
        "received_at": content.received_at.to_string(),
        "created_at": content.received_at.to_string(),
        "deliveries": event.deliveries.iter().map(delivery).collect::<Vec<_>>(),
    });
    let mut put = |field: &str, value: Option<String>| {
        if let Some(value) = value {
            object[field] = value.into();
        }
    };
    // Of a body that a list has cut there is no hash to tell.
    let whole = content.body.len() == event.body_bytes;
    put("payload_hash", whole.then(|| hex(&Sha256::digest(&content.body))));
    put("event_type", content.event_type.as_ref().map(|known| known.as_str().to_owned()));
    put("external_event_id", event.external_id.clone());
    put("next_attempt_at", next.map(|at| at.to_string()));
    put("replay_of", event.replay_of.map(|id| id.to_string()));
    let ended = matches!(status, EventStatus::Of(DeliveryStatus::Delivered | DeliveryStatus::DeadLetter));
    put("final_state", ended.then(|| status.as_str().to_owned()));
    if !whole {
        object["body_bytes"] = event.body_bytes.into();
    }
    object
}

fn delivery(delivery: &DeliveryState) -> Value {
    let mut object = json!({
        "id": delivery.id.to_string(),
        "destination_id": delivery.destination.to_string(),
        "priority": delivery.priority.number(),
        "status": delivery.status.as_str(),
        "attempts_count": delivery.attempts,
    });
    if let Some(at) = delivery.next_attempt_at {
        object["next_attempt_at"] = at.to_string().into();
    }
    if let Some(reason) = delivery.reason {
        object["reason"] = reason.as_str().into();
    }
    object
}

pub(crate) fn attempt(attempt: &Attempt) -> Value {
    let (body, encoding) = text_or_base64(&attempt.response_body);
    let mut object = json!({
        "id": attempt.id.to_string(),
        "event_id": attempt.event.to_string(),
        "delivery_id": attempt.delivery.to_string(),
        "destination_id": attempt.destination.to_string(),
        "attempt_number": attempt.number,
        "started_at": attempt.started_at.to_string(),
        "finished_at": attempt.started_at.after(attempt.timing.total).to_string(),
        "latency_ms": milliseconds(attempt.timing.total),
        "timing": {
            "dns_ms": attempt.timing.dns.map(milliseconds),
            "connect_ms": attempt.timing.connect.map(milliseconds),
            "tls_ms": attempt.timing.tls.map(milliseconds),
            "first_byte_ms": attempt.timing.first_byte.map(milliseconds),
            "total_ms": milliseconds(attempt.timing.total),
        },
        "outcome": attempt.outcome.as_str(),
        "request_headers": header_map(&attempt.request_headers),
    });
    if let Some(status) = attempt.status {
        object["response_status"] = status.into();
        object["response_headers"] = header_map(&attempt.response_headers);
        object["response_body"] = body.into();
        object["response_body_encoding"] = encoding.into();
    }
    if let Some(problem) = &attempt.problem {
        object["error_message"] = problem.sentence.as_str().into();
        object["error_kind"] = problem.kind.as_str().into();
    }
    object
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

fn text_or_base64(bytes: &[u8]) -> (String, &'static str) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), "utf8"),
        Err(_) => (STANDARD.encode(bytes), "base64"),
    }
}

/// Headers as a map; a name that came more than once has its values joined, as HTTP allows.
pub(crate) fn header_map(headers: &Headers) -> Value {
    let mut map: Map<String, Value> = Map::new();
    for (name, value) in headers.iter() {
        match map.get_mut(name) {
            Some(Value::String(known)) => {
                known.push_str(", ");
                known.push_str(value);
            }
            _ => drop(map.insert(name.to_owned(), value.into())),
        }
    }
    Value::Object(map)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
