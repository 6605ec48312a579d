//! What making and changing a destination takes.

use super::{Circuit, RateLimit, RetryPolicy};
use crate::api::view::word::{CircuitState, OnDeadLetter, Ordering};
use std::collections::HashMap;
use utoipa::ToSchema;

/// A new destination.
#[derive(ToSchema)]
pub(crate) struct NewDestination {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// `http` or `https`. An address that is not open to deliveries is refused.
    #[schema(format = "uri", example = "https://example.com/hooks")]
    url: String,
    /// Attempts at once, at most.
    #[schema(minimum = 1, maximum = 1000, default = 5)]
    max_concurrency: Option<u32>,
    #[schema(minimum = 1, maximum = 120, default = 10)]
    timeout_seconds: Option<u32>,
    #[schema(default = true)]
    active: Option<bool>,
    retry_policy: Option<RetryPolicy>,
    auth_config: Option<Auth>,
    /// Sent with every attempt.
    custom_headers: Option<HashMap<String, String>>,
    /// Made if not given.
    #[schema(example = "whsec_…")]
    signing_secret: Option<String>,
    rate_limit: Option<RateLimit>,
    circuit: Option<Circuit>,
    /// Whether fewer than `max_concurrency` attempts are made at once while it struggles.
    #[schema(default = true)]
    adaptive: Option<bool>,
    /// In an ordered line, whether one that is given up on lets the rest wait or go on; `block` when absent.
    #[schema(value_type = Option<OnDeadLetter>)]
    on_dead_letter: Option<String>,
    /// `none` when absent.
    #[schema(value_type = Option<Ordering>)]
    ordering: Option<String>,
    /// With `by_key`, and only then: a CEL expression for the key.
    #[schema(max_length = 4096, example = "payload.customer.id")]
    ordering_key: Option<String>,
}

/// What is not given stays; `null` takes an optional field away.
#[derive(ToSchema)]
pub(crate) struct DestinationChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    #[schema(format = "uri")]
    url: Option<String>,
    #[schema(minimum = 1, maximum = 1000)]
    max_concurrency: Option<u32>,
    #[schema(minimum = 1, maximum = 120)]
    timeout_seconds: Option<u32>,
    active: Option<bool>,
    retry_policy: Option<RetryPolicy>,
    auth_config: Option<Auth>,
    custom_headers: Option<HashMap<String, String>>,
    signing_secret: Option<String>,
    rate_limit: Option<RateLimit>,
    circuit: Option<Circuit>,
    adaptive: Option<bool>,
    #[schema(value_type = Option<OnDeadLetter>)]
    on_dead_letter: Option<String>,
    #[schema(value_type = Option<Ordering>)]
    ordering: Option<String>,
    #[schema(max_length = 4096)]
    ordering_key: Option<String>,
}

/// How the gateway names itself to the receiver.
#[derive(ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schema(as = AuthConfig)]
enum Auth {
    /// `Authorization: Bearer token`.
    Bearer { token: String },
    /// Any other header.
    Header { header: String, value: String },
}

/// What a circuit is told to be.
#[derive(ToSchema)]
pub(crate) struct CircuitOrder {
    /// `open` leaves it alone until told otherwise, `half_open` makes one probe now, `closed` sends again.
    #[schema(value_type = CircuitState)]
    state: String,
}
