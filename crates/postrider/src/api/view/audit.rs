//! A change that somebody made.

use super::word::{AuditWay, Noun};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Who changed what.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditRecord {
    #[schema(example = "aud_01hz3k8q2v4xw")]
    id: String,
    /// Whose things were changed.
    account_id: String,
    #[schema(format = DateTime)]
    created_at: String,
    /// How the author came: with a key to the API, signed in to the dashboard, by a link to the portal, or without a
    /// key from the machine itself.
    #[schema(value_type = AuditWay)]
    way: &'static str,
    /// The author's key; absent for the gateway's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key_id: Option<String>,
    /// The name that the key had then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key_name: Option<String>,
    #[schema(example = "PATCH")]
    method: String,
    #[schema(example = "/v1/routes/{id}")]
    path: String,
    #[schema(value_type = Noun)]
    noun: String,
    /// Of what was changed; absent when it were many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    object_id: Option<String>,
    /// The fields that differ, as they were; all of them of what was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<HashMap<String, Value>>)]
    before: Option<Value>,
    /// The same as they are since; all of them of what was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<HashMap<String, Value>>)]
    after: Option<Value>,
}

impl AuditRecord {
    pub(crate) fn of(record: &postrider_store::AuditRecord) -> Self {
        let (method, path) = record.call.split_once(' ').unwrap_or(("", &record.call));
        let json = |text: &Option<String>| text.as_ref().and_then(|text| serde_json::from_str(text).ok());
        AuditRecord {
            id: record.id.to_string(),
            account_id: record.account.to_string(),
            created_at: record.at.to_string(),
            way: record.author.way.as_str(),
            key_id: record.author.key.map(|key| key.to_string()),
            key_name: record.author.key_name.clone(),
            method: method.to_owned(),
            path: path.to_owned(),
            noun: record.noun.clone(),
            object_id: record.object.clone(),
            before: json(&record.before),
            after: json(&record.after),
        }
    }
}
