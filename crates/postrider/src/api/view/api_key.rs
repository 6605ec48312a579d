//! An API key as lists show it: enough to tell it from others.

use serde::Serialize;
use utoipa::ToSchema;

/// A key of an account.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApiKey {
    #[schema(example = "key_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    name: String,
    /// How the key begins.
    #[schema(example = "hk_7Yq2mPa")]
    key_prefix: String,
    #[schema(format = DateTime)]
    created_at: String,
    /// Since when it no longer works.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    revoked_at: Option<String>,
    /// The key in full, only in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) key: Option<String>,
}

impl ApiKey {
    pub(crate) fn of(key: &postrider_store::ApiKey) -> Self {
        ApiKey {
            id: key.id.to_string(),
            account_id: key.account.to_string(),
            name: key.name.clone(),
            key_prefix: key.prefix.clone(),
            created_at: key.created_at.to_string(),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            key: None,
        }
    }
}
