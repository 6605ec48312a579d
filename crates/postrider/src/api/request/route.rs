//! What making and changing a route takes.

use super::RetryPolicy;
use utoipa::ToSchema;

/// A new route.
#[derive(ToSchema)]
pub(crate) struct NewRoute {
    #[schema(example = "dst_01hz3k8q2v4xw")]
    destination_id: String,
    /// The id that the route has in the system it is brought over from. The gateway makes an id of its own.
    #[schema(max_length = 200)]
    route_id: Option<String>,
    /// The one source whose events it takes; those of every source when absent.
    source_id: Option<String>,
    /// Types of events that it takes; every one when absent.
    #[schema(example = "payment.*")]
    event_type_pattern: Option<String>,
    /// A CEL expression; only events for which it is true are taken.
    #[schema(max_length = 4096, example = "payload.amount > 1000")]
    filter: Option<String>,
    /// A CEL expression for another body, or for a map of `body` and `headers`.
    #[schema(max_length = 4096, example = "{'body': payload.data, 'headers': {'x-kind': event.type}}")]
    transform: Option<String>,
    /// From 1 critical to 4 bulk.
    #[schema(minimum = 1, maximum = 4, default = 3)]
    priority: Option<u32>,
    /// The first that fits decides the priority of an event.
    priority_rules: Option<Vec<PriorityRule>>,
    /// Stands over that of the destination.
    retry_policy: Option<RetryPolicy>,
    #[schema(default = true)]
    active: Option<bool>,
}

/// What is not given stays; `null` takes an optional field away.
#[derive(ToSchema)]
pub(crate) struct RouteChange {
    /// If it is given, that of this route.
    route_id: Option<String>,
    destination_id: Option<String>,
    source_id: Option<String>,
    event_type_pattern: Option<String>,
    #[schema(max_length = 4096)]
    filter: Option<String>,
    #[schema(max_length = 4096)]
    transform: Option<String>,
    #[schema(minimum = 1, maximum = 4)]
    priority: Option<u32>,
    priority_rules: Option<Vec<PriorityRule>>,
    retry_policy: Option<RetryPolicy>,
    active: Option<bool>,
}

/// One of `type`, `prefix`, `suffix` and `when` with a `priority`, or `value` or `header` alone.
#[derive(ToSchema)]
pub(crate) struct PriorityRule {
    /// A pattern for the event's type.
    #[schema(rename = "type", nullable = false)]
    event_type: Option<String>,
    /// How the event's type begins.
    #[schema(nullable = false)]
    prefix: Option<String>,
    /// How the event's type ends.
    #[schema(nullable = false)]
    suffix: Option<String>,
    /// A CEL expression that is true or false.
    #[schema(nullable = false, example = "payload.amount > 1000")]
    when: Option<String>,
    /// A CEL expression that gives the priority.
    #[schema(nullable = false)]
    value: Option<String>,
    /// A header of the event that holds the priority.
    #[schema(nullable = false)]
    header: Option<String>,
    #[schema(nullable = false, minimum = 1, maximum = 4)]
    priority: Option<u32>,
}
