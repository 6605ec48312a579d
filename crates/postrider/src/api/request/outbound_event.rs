//! What sending an event takes.

use serde_json::Value;
use std::collections::HashMap;
use utoipa::ToSchema;

/// An event to send.
#[derive(ToSchema)]
pub(crate) struct NewOutboundEvent {
    /// The type that routes match.
    #[schema(example = "order.created")]
    event_type: String,
    /// A text is sent as it is, any other value as compact JSON.
    #[schema(value_type = Value)]
    payload: Value,
    /// Names it, and a repetition of it.
    #[schema(max_length = 256)]
    external_event_id: Option<String>,
    /// Sent with it. Without a `content-type`, what the payload is.
    headers: Option<HashMap<String, String>>,
    /// Not before this; at most 30 days ahead.
    #[schema(format = DateTime)]
    deliver_at: Option<String>,
    /// Not attempted any more so long after it is due.
    #[schema(minimum = 1, maximum = 2_592_000)]
    ttl_seconds: Option<u32>,
    /// Over that of the routes, from 1 critical to 4 bulk.
    #[schema(minimum = 1, maximum = 4)]
    priority: Option<u32>,
}

/// A CloudEvent 1.0 in structured form. All of it is kept and delivered as it came, whatever else it has.
#[derive(ToSchema)]
pub(crate) struct CloudEvent {
    #[schema(example = "1.0")]
    specversion: String,
    /// The type that routes match.
    #[schema(rename = "type", example = "order.created")]
    event_type: String,
    /// Names it, and a repetition of it, within `source`.
    #[schema(max_length = 256)]
    id: String,
    /// Where it comes from.
    #[schema(max_length = 2048, example = "https://shop.example.com")]
    source: String,
    #[schema(value_type = Option<Value>)]
    data: Option<Value>,
}
