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

/// When a destination that is down is left alone, and for how long: by a share of failures among its last attempts, or by
/// failures in a row. Parts that are not given are the default.
#[derive(ToSchema)]
pub(crate) struct Circuit {
    /// Opens after so many failures in a row. Not together with `failure_percent`, `window_attempts` or `window_seconds`.
    #[schema(minimum = 1, maximum = 10_000)]
    threshold: Option<u32>,
    /// Opens when at least this share of the last `window_attempts` attempts failed.
    #[schema(minimum = 1, maximum = 100, default = 95)]
    failure_percent: Option<u32>,
    /// So many of the last attempts are looked at; with fewer the circuit stays closed.
    #[schema(minimum = 1, maximum = 1000, default = 50)]
    window_attempts: Option<u32>,
    /// Attempts that ended longer ago are not looked at.
    #[schema(minimum = 1, maximum = 86_400, default = 3600)]
    window_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 86_400, default = 30)]
    cooldown_seconds: Option<u32>,
    /// The cooldown grows with each probe that fails, up to this.
    #[schema(minimum = 1, maximum = 86_400, default = 900)]
    cooldown_max_seconds: Option<u32>,
}
