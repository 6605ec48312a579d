//! Health, as a flat map of texts.

use super::word::Durability;
use serde::Serialize;
use utoipa::ToSchema;

/// How the gateway is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    pub(crate) status: &'static str,
    /// Why it is not ready, for a program: the code of what events are refused with, where they are, but `store_slow` where
    /// they are for commits that take too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "disk_full")]
    pub(crate) code: Option<&'static str>,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) reason: Option<String>,
    /// On PostgreSQL: what an accepted event survives, by the settings of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Durability>)]
    pub(crate) durability: Option<&'static str>,
}
