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

/// When the circuit of a destination that is down opens, and for how long: by its failure rate, or by consecutive failures.
/// Fields that are not given have their default. Ten minutes without a success and at least five failures open it too.
#[derive(ToSchema)]
pub(crate) struct Circuit {
    /// Opens after this many consecutive failures. Cannot be combined with `failure_percent`, `window_attempts` or `window_seconds`.
    #[schema(minimum = 1, maximum = 10_000)]
    threshold: Option<u32>,
    /// Opens when at least this percentage of the last `window_attempts` attempts failed.
    #[schema(minimum = 1, maximum = 100, default = 100)]
    failure_percent: Option<u32>,
    /// Number of last attempts that the failure rate is taken of. With fewer it does not open the circuit.
    #[schema(minimum = 1, maximum = 1000, default = 150)]
    window_attempts: Option<u32>,
    /// Attempts that ended longer ago do not count.
    #[schema(minimum = 1, maximum = 86_400, default = 3600)]
    window_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 86_400, default = 30)]
    cooldown_seconds: Option<u32>,
    /// The cooldown grows with each probe that fails, up to this.
    #[schema(minimum = 1, maximum = 86_400, default = 900)]
    cooldown_max_seconds: Option<u32>,
}
