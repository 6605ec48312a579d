//! Keys to the API as documents. Their hash is no secret: it does not lead back to the key.

use super::BadDocument;
use super::fields::{Reading, Writing, time};
use crate::codec::{rate_from_json, rate_to_json};
use crate::{ApiKey, Scope};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_core::id::{AccountId, ApiKeyId};

pub(super) fn write(key: &ApiKey, into: &mut Writing<'_>) {
    into.put("account_id", key.account.to_string());
    into.put("name", key.name.as_str());
    into.put("prefix", key.prefix.as_str());
    into.put("hash", STANDARD.encode(key.hash));
    into.put("scope", key.scope.as_str());
    into.put("rate_limit", key.rate_limit.map(rate_to_json));
    into.time("created_at", key.created_at);
    into.time("expires_at", key.expires_at);
    into.time("revoked_at", key.revoked_at);
    into.time("last_used_at", key.last_used_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<ApiKey, BadDocument> {
    Ok(ApiKey {
        id: ApiKeyId::from_u64(from.id()),
        account: from.get("account_id", |value| AccountId::parse(value.as_str()?).ok())?,
        name: from.text("name")?,
        prefix: from.text("prefix")?,
        hash: from.get("hash", |value| STANDARD.decode(value.as_str()?).ok()?.try_into().ok())?,
        scope: from.get("scope", |value| Scope::from_word(value.as_str()?))?,
        rate_limit: from.maybe("rate_limit", |value| rate_from_json(value).ok())?,
        created_at: from.time("created_at")?,
        expires_at: from.maybe("expires_at", time)?,
        revoked_at: from.maybe("revoked_at", time)?,
        last_used_at: from.maybe("last_used_at", time)?,
    })
}
