//! What changing an account takes.

use utoipa::ToSchema;

/// What is not given stays. All but the name is for the admin key alone; `null` takes a limit away.
#[derive(ToSchema)]
pub(crate) struct AccountChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
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
}
