//! What making and changing an account take.

use utoipa::ToSchema;

/// What is not given stays. From plan on it is for the admin key alone; `null` takes one away.
#[derive(ToSchema)]
pub(crate) struct AccountChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    #[schema(format = "email")]
    email: Option<String>,
    /// A destination of its own, where it is told of what befalls the others.
    operational_destination_id: Option<String>,
    /// What it is on, in the operator's words.
    #[schema(min_length = 1, max_length = 200)]
    plan: Option<String>,
    /// Its older events are not shown; no more than the gateway keeps.
    #[schema(minimum = 1)]
    retention_days: Option<u32>,
    /// Its share beside the other accounts.
    #[schema(minimum = 1, maximum = 1000)]
    weight: Option<u32>,
    /// Attempts at once over all its destinations.
    #[schema(minimum = 1, maximum = 16384)]
    max_in_flight: Option<u32>,
    /// Deliveries that it may be owed.
    #[schema(minimum = 1)]
    max_pending: Option<u64>,
    /// Bytes of bodies that it may be owed.
    #[schema(minimum = 1)]
    max_pending_bytes: Option<u64>,
    /// How long one of its deliveries may wait for nothing but a slot.
    #[schema(minimum = 1, maximum = 2592000)]
    max_pending_age_seconds: Option<u32>,
}

/// A new account. All but name and email is for the admin key alone.
#[derive(ToSchema)]
pub(crate) struct NewAccount {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    #[schema(format = "email")]
    email: Option<String>,
    /// What it is on, in the operator's words.
    #[schema(min_length = 1, max_length = 200)]
    plan: Option<String>,
    /// Its older events are not shown; no more than the gateway keeps.
    #[schema(minimum = 1)]
    retention_days: Option<u32>,
    /// Its share beside the other accounts.
    #[schema(minimum = 1, maximum = 1000)]
    weight: Option<u32>,
    /// Attempts at once over all its destinations.
    #[schema(minimum = 1, maximum = 16384)]
    max_in_flight: Option<u32>,
    /// Deliveries that it may be owed.
    #[schema(minimum = 1)]
    max_pending: Option<u64>,
    /// Bytes of bodies that it may be owed.
    #[schema(minimum = 1)]
    max_pending_bytes: Option<u64>,
    /// How long one of its deliveries may wait for nothing but a slot.
    #[schema(minimum = 1, maximum = 2592000)]
    max_pending_age_seconds: Option<u32>,
}
