//! Described event types as documents.

use super::BadDocument;
use super::fields::{Reading, Writing, text};
use crate::DescribedType;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, EventTypeId};

pub(super) fn write(described: &DescribedType, into: &mut Writing<'_>) {
    into.put("account_id", described.account.to_string());
    into.put("event_type", described.event_type.as_str());
    into.put("schema", described.schema.clone());
    into.put("description", described.description.as_deref());
    into.time("created_at", described.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<DescribedType, BadDocument> {
    Ok(DescribedType {
        id: EventTypeId::from_u64(from.id()),
        account: from.get("account_id", |value| AccountId::parse(value.as_str()?).ok())?,
        event_type: from.get("event_type", |value| EventType::parse(value.as_str()?).ok())?,
        schema: from.get("schema", |value| Some(value.clone()))?,
        description: from.maybe("description", text)?,
        created_at: from.time("created_at")?,
    })
}
