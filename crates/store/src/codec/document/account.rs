//! Accounts as documents.

use super::BadDocument;
use super::fields::{Reading, Writing};
use crate::Account;
use postrider_core::account::Weight;
use postrider_core::id::AccountId;
use serde_json::Value;

pub(super) fn write(account: &Account, into: &mut Writing<'_>) {
    into.put("name", account.name.as_str());
    into.put("weight", account.weight.get());
    into.put("max_in_flight", account.max_in_flight);
    into.put("max_pending", account.max_pending);
    into.put("max_pending_bytes", account.max_pending_bytes);
    into.time("created_at", account.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<Account, BadDocument> {
    let small = |value: &Value| value.as_u64().and_then(|number| number.try_into().ok());
    Ok(Account {
        id: AccountId::from_u64(from.id()),
        name: from.text("name")?,
        weight: from.get("weight", |value| Weight::new(value.as_u64()?).ok())?,
        max_in_flight: from.maybe("max_in_flight", small)?,
        max_pending: from.maybe("max_pending", Value::as_u64)?,
        max_pending_bytes: from.maybe("max_pending_bytes", Value::as_u64)?,
        created_at: from.time("created_at")?,
    })
}
