//! Doors for the fuzz targets in `fuzz/`, to what is evaluated on events. Not part of any build that is shipped.

use crate::expression::{Expression, Facts, Transform, Wants};
use crate::schema::Schema;
use crate::traces::TraceContext;
use postrider_core::event::EventType;
use postrider_store::Headers;
use serde_json::Value;

/// Compiles an expression for each of its places, and evaluates what is legal on an event with this body.
pub fn evaluate(text: &str, body: &[u8]) {
    let event_type = EventType::parse("order.paid").ok();
    let headers: Headers = [("x-tenant", "acme")].into_iter().collect();
    let facts = Facts::new(event_type.as_ref(), "shop", &headers, body);
    if let Ok(filter) = Expression::compile(text, Wants::Bool) {
        let _ = filter.truth(&facts);
    }
    if let Ok(priority) = Expression::compile(text, Wants::Priority) {
        priority.priority(&facts);
    }
    if let Ok(key) = Expression::compile(text, Wants::Key) {
        key.key(&facts);
    }
    if let Ok(transform) = Transform::compile(text) {
        let _ = transform.apply(&facts);
    }
}

/// Compiles a schema and checks a body by it.
pub fn check_schema(schema: &Value, body: &[u8]) {
    if let Ok(schema) = Schema::compile(schema) {
        let _ = schema.check(body);
    }
}

/// Searches for a check that costs more CPU than it is charged for, or more than one may cost.
pub fn search_worst_schema(drawn: &[u8]) {
    crate::schema::worst::Case::of(drawn, 200_000).hold();
}

/// Reads the trace that a sender named, and says what a delivery of it would carry: `traceparent` and `tracestate`.
pub fn trace(parent: &str, state: &str) -> Option<(String, Option<String>)> {
    let headers: Headers = [("traceparent", parent), ("tracestate", state)].into_iter().collect();
    let context = TraceContext::of(&headers)?;
    Some((context.traceparent([7; 8]), context.state))
}
