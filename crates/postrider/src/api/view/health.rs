//! Health, as a flat map of texts.

use serde::Serialize;
use utoipa::ToSchema;

/// How the gateway is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    pub(crate) status: &'static str,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) reason: Option<String>,
}
