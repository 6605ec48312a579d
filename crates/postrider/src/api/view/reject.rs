//! A request that a source has refused.

use crate::api::rejects;
use serde::Serialize;
use utoipa::ToSchema;

/// A request that was refused, and those that followed it alike.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reject {
    /// When the last of them came.
    #[schema(format = DateTime)]
    at: String,
    /// What it was answered.
    status: u16,
    #[schema(value_type = String, example = "bad_signature")]
    code: &'static str,
    /// Why, in more words than the sender was told.
    reason: String,
    /// Who was connected; behind a proxy that is the proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client: Option<String>,
    count: u64,
}

impl Reject {
    pub(crate) fn of(reject: &rejects::Reject) -> Self {
        Reject {
            at: reject.at.to_string(),
            status: reject.status.as_u16(),
            code: reject.code,
            reason: reject.reason.clone(),
            client: reject.client.map(|client| client.to_string()),
            count: reject.count,
        }
    }
}
