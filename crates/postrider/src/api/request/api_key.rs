//! What making and changing an API key takes.

use super::RateLimit;
use crate::api::view::word::{NewRole, NewScope};
use utoipa::ToSchema;

/// A new key.
#[derive(ToSchema)]
pub(crate) struct NewApiKey {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// What it is for; `account` when absent.
    #[schema(value_type = Option<NewScope>)]
    scope: Option<String>,
    /// The scope in GetHook's words, in its place: `owner` and `admin` are `account`, `viewer` is `read`.
    #[schema(value_type = Option<NewRole>)]
    role: Option<String>,
    /// When it stops working; never when absent.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The same from now, in its place.
    #[schema(minimum = 1, maximum = 315_360_000)]
    expires_in_seconds: Option<u64>,
    /// How often it may be used.
    rate_limit: Option<RateLimit>,
}

/// What is not given stays; `null` takes an end or a limit away.
#[derive(ToSchema)]
pub(crate) struct ApiKeyChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    #[schema(minimum = 1, maximum = 315_360_000)]
    expires_in_seconds: Option<u64>,
    rate_limit: Option<RateLimit>,
}
