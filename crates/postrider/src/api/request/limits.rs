//! A destination's rate limit and circuit.

use utoipa::ToSchema;

/// Sends a second, evenly apart.
#[derive(ToSchema)]
pub(crate) struct RateLimit {
    #[schema(minimum = 0.001, maximum = 100_000)]
    per_second: f64,
    /// How many at once after a rest; 1 when absent.
    #[schema(minimum = 1, maximum = 100_000)]
    burst: Option<u32>,
}

/// When a destination that fails is left alone, and for how long. Parts that are not given are the default.
#[derive(ToSchema)]
pub(crate) struct Circuit {
    /// Failures in a row.
    #[schema(minimum = 1, maximum = 10_000, default = 5)]
    threshold: Option<u32>,
    #[schema(minimum = 1, maximum = 86_400, default = 30)]
    cooldown_seconds: Option<u32>,
    /// The cooldown grows with each probe that fails, up to this.
    #[schema(minimum = 1, maximum = 86_400, default = 900)]
    cooldown_max_seconds: Option<u32>,
}
