//! Which dead letters are meant.

use crate::api::view::word::DeathReason;
use utoipa::ToSchema;

/// What must be true of a dead letter; of every one when empty.
#[derive(ToSchema)]
pub(crate) struct DeadLetterFilter {
    /// Owed to this destination.
    destination_id: Option<String>,
    /// Of an event that came in here.
    source_id: Option<String>,
    /// Of an event of such a type; a pattern.
    #[schema(example = "payment.*")]
    event_type: Option<String>,
    /// Given up on for this.
    #[schema(value_type = Option<DeathReason>)]
    reason: Option<String>,
    /// Given up on then or later.
    #[schema(format = DateTime)]
    since: Option<String>,
    /// Given up on before that.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// One of these.
    delivery_ids: Option<Vec<String>>,
}
