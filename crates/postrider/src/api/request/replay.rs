//! What making and changing a replay takes.

use super::DeadLetterFilter;
use crate::api::view::word::ReplayOrder;
use utoipa::ToSchema;

/// A new replay.
#[derive(ToSchema)]
pub(crate) struct NewReplay {
    filter: Option<DeadLetterFilter>,
    /// Only tells how many would be sent.
    #[schema(default = false)]
    dry_run: Option<bool>,
    /// As fast as destinations take them when absent.
    #[schema(minimum = 0.001, maximum = 100_000)]
    rate_per_second: Option<f64>,
}

/// Where an event is to go again.
#[derive(ToSchema)]
pub(crate) struct EventAgain {
    /// To this destination alone, if a route of today leads it there.
    destination_id: Option<String>,
}

/// Where an event is to go once.
#[derive(ToSchema)]
pub(crate) struct EventElsewhere {
    #[schema(format = "uri", max_length = 2048, example = "https://example.com/hooks")]
    url: String,
}

/// What is not given stays; a rate of `null` takes the limit away.
#[derive(ToSchema)]
pub(crate) struct ReplayChange {
    #[schema(value_type = Option<ReplayOrder>)]
    state: Option<String>,
    #[schema(minimum = 0.001, maximum = 100_000)]
    rate_per_second: Option<f64>,
}
