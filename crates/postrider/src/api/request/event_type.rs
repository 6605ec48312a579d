//! What describing an event type takes.

use utoipa::ToSchema;

/// An event type with what its events must look like.
#[derive(ToSchema)]
pub(crate) struct NewEventType {
    /// The type itself, no pattern.
    #[schema(example = "order.created")]
    event_type: String,
    /// A JSON Schema of at most 65,536 bytes. `$ref` leads to places of its own alone, and never back.
    #[schema(value_type = Object)]
    schema: (),
    #[schema(max_length = 1000)]
    description: Option<String>,
}

/// What is not given stays; `null` takes an optional field away.
#[derive(ToSchema)]
pub(crate) struct EventTypeChange {
    event_type: Option<String>,
    #[schema(value_type = Option<Object>)]
    schema: Option<()>,
    #[schema(max_length = 1000)]
    description: Option<String>,
}
