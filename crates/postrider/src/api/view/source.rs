//! A source. Its token is what senders need, so it is shown to the source's own account.

use super::word::{AuthMode, SourceStatus};
use crate::api::request::RateLimit;
use crate::api::verification;
use postrider_store::codec::rate_to_json;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Where events come in.
#[derive(Serialize, ToSchema)]
pub(crate) struct Source {
    #[schema(example = "src_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    name: String,
    /// The secret part of its ingest URL; not for keys that may only look.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    path_token: Option<String>,
    /// Where senders post events to, ready to paste.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    ingest_url: Option<String>,
    #[schema(value_type = AuthMode)]
    auth_mode: &'static str,
    #[schema(value_type = SourceStatus)]
    status: &'static str,
    #[schema(format = DateTime)]
    created_at: String,
    /// How often events may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RateLimit>)]
    rate_limit: Option<Value>,
    /// How senders must sign, with `[redacted]` in place of each secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Object)]
    verification_config: Option<Map<String, Value>>,
    /// Where the type of an event is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    event_type_from: Option<FieldPlace>,
    /// Where the idempotency key is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    idempotency_key_from: Option<FieldPlace>,
    /// The service that sends here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider: Option<String>,
}

/// A header or a place in the body.
#[derive(Serialize, ToSchema)]
pub(super) struct FieldPlace {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    header: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    json_pointer: Option<String>,
}

impl FieldPlace {
    pub(super) fn of(place: &postrider_store::FieldPlace) -> Self {
        match place {
            postrider_store::FieldPlace::Header(name) => {
                FieldPlace { header: Some(name.to_string()), json_pointer: None }
            }
            postrider_store::FieldPlace::JsonPointer(pointer) => {
                FieldPlace { header: None, json_pointer: Some(pointer.to_string()) }
            }
        }
    }
}

impl Source {
    pub(crate) fn of(source: &postrider_store::Source, public_url: &str) -> Self {
        let (auth_mode, verification_config) = verification::shown(source);
        Source {
            id: source.id.to_string(),
            account_id: source.account.to_string(),
            name: source.name.clone(),
            path_token: Some(source.token.clone()),
            ingest_url: Some(format!("{public_url}/ingest/{}", source.token)),
            rate_limit: source.rate_limit.map(rate_to_json),
            auth_mode,
            status: if source.active { "active" } else { "inactive" },
            created_at: source.created_at.to_string(),
            verification_config,
            event_type_from: source.event_type_from.as_ref().map(FieldPlace::of),
            idempotency_key_from: source.idempotency_key_from.as_ref().map(FieldPlace::of),
            provider: source.provider.clone(),
        }
    }

    /// For whoever may look but not send.
    pub(crate) fn without_token(self) -> Self {
        Source { path_token: None, ingest_url: None, ..self }
    }
}
