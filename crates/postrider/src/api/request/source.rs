//! What making a source takes.

use super::RateLimit;
use crate::api::view::word::AuthMode;
use utoipa::ToSchema;

/// A new source.
#[derive(ToSchema)]
pub(crate) struct NewSource {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// `none` when absent.
    #[schema(value_type = Option<AuthMode>)]
    auth_mode: Option<String>,
    /// With `shared_secret`, and only then.
    verification_config: Option<SharedSecret>,
    /// The service that will send here.
    #[schema(min_length = 1, max_length = 200, example = "stripe")]
    provider: Option<String>,
    /// How often events may come; more are refused with 429.
    rate_limit: Option<RateLimit>,
}

/// A secret that senders show in a header.
#[derive(ToSchema)]
struct SharedSecret {
    #[schema(example = "X-Shop-Secret")]
    header: String,
    #[schema(min_length = 1)]
    secret: String,
}
