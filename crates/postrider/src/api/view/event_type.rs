//! A described event type.

use postrider_store::DescribedType;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What events of a type must look like.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventType {
    #[schema(example = "ety_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    #[schema(example = "order.created")]
    event_type: String,
    /// A JSON Schema.
    #[schema(value_type = Object)]
    schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    description: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

impl EventType {
    pub(crate) fn of(described: &DescribedType) -> Self {
        EventType {
            id: described.id.to_string(),
            account_id: described.account.to_string(),
            event_type: described.event_type.as_str().to_owned(),
            schema: described.schema.clone(),
            description: described.description.clone(),
            created_at: described.created_at.to_string(),
        }
    }
}
