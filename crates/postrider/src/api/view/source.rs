//! A source. Its token is what senders need, so it is shown to the source's own account.

use super::word::{AuthMode, SourceStatus};
use postrider_store::SourceAuth;
use serde::Serialize;
use utoipa::ToSchema;

/// Where events come in.
#[derive(Serialize, ToSchema)]
pub(crate) struct Source {
    #[schema(example = "src_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    name: String,
    /// The secret part of its ingest URL.
    path_token: String,
    /// Where senders post events to, ready to paste.
    #[schema(format = "uri")]
    ingest_url: String,
    #[schema(value_type = AuthMode)]
    auth_mode: &'static str,
    #[schema(value_type = SourceStatus)]
    status: &'static str,
    #[schema(format = DateTime)]
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    verification_config: Option<Verification>,
    /// The service that sends here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider: Option<String>,
}

/// How a source tells its senders from others, without the secret.
#[derive(Serialize, ToSchema)]
struct Verification {
    header: String,
}

impl Source {
    pub(crate) fn of(source: &postrider_store::Source, public_url: &str) -> Self {
        let (auth_mode, verification_config) = match &source.auth {
            SourceAuth::None => ("none", None),
            SourceAuth::SharedSecret { header, .. } => {
                ("shared_secret", Some(Verification { header: header.clone() }))
            }
        };
        Source {
            id: source.id.to_string(),
            account_id: source.account.to_string(),
            name: source.name.clone(),
            path_token: source.token.clone(),
            ingest_url: format!("{public_url}/ingest/{}", source.token),
            auth_mode,
            status: if source.active { "active" } else { "inactive" },
            created_at: source.created_at.to_string(),
            verification_config,
            provider: source.provider.clone(),
        }
    }
}
