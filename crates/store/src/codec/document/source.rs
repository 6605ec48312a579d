//! Sources as documents. The token is a secret too: who has it may send.

use super::BadDocument;
use super::fields::{Reading, Writing, text};
use crate::codec::{field_place_from_json, field_place_to_json, rate_from_json, rate_to_json};
use crate::{Source, Verification};
use postrider_core::id::{AccountId, SourceId};
use serde_json::{Value, json};

pub(super) fn write(source: &Source, into: &mut Writing<'_>) {
    into.put("account_id", source.account.to_string());
    into.put("name", source.name.as_str());
    into.secret("token", &source.token);
    into.put("provider", source.provider.as_deref());
    if let Some(verification) = &source.verification {
        into.put("verification", verification.config.clone());
        into.secret("verification_secrets", &json!(verification.secrets).to_string());
    }
    into.put("event_type_from", source.event_type_from.as_ref().map(field_place_to_json));
    into.put("idempotency_key_from", source.idempotency_key_from.as_ref().map(field_place_to_json));
    into.put("rate_limit", source.rate_limit.map(rate_to_json));
    into.put("active", source.active);
    into.time("created_at", source.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<Source, BadDocument> {
    Ok(Source {
        id: SourceId::from_u64(from.id()),
        account: from.get("account_id", |value| AccountId::parse(value.as_str()?).ok())?,
        name: from.text("name")?,
        token: from.secret("token")?,
        provider: from.maybe("provider", text)?,
        verification: read_verification(from)?,
        event_type_from: from.maybe("event_type_from", field_place_from_json)?,
        idempotency_key_from: from.maybe("idempotency_key_from", field_place_from_json)?,
        rate_limit: from.maybe("rate_limit", |value| rate_from_json(value).ok())?,
        active: from.switch("active")?,
        created_at: from.time("created_at")?,
    })
}

fn read_verification(from: &Reading<'_>) -> Result<Option<Verification>, BadDocument> {
    let Some(config) = from.maybe("verification", |value| value.as_object().cloned())? else {
        return Ok(None);
    };
    let listed = from.secret("verification_secrets")?;
    let listed: Option<Vec<String>> = serde_json::from_str(&listed).ok();
    let secrets = from.get("verification_secrets", |_: &Value| listed)?;
    Ok(Some(Verification { config, secrets }))
}
