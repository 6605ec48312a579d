//! What events of a type must look like.

use postrider_core::event::EventType;
use postrider_core::id::{AccountId, EventTypeId};
use postrider_core::time::Timestamp;
use serde_json::Value;

/// An event type that an account has described.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedType {
    /// Its id.
    pub id: EventTypeId,
    /// Whose it is.
    pub account: AccountId,
    /// The type; an account describes each once.
    pub event_type: EventType,
    /// The JSON Schema that bodies must meet.
    pub schema: Value,
    /// What it is for, for people.
    pub description: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}
