//! Sources as documents. The token is a secret too: who has it may send.

use super::BadDocument;
use super::fields::{Reading, Writing, text};
use crate::codec::{rate_from_json, rate_to_json};
use crate::{Source, SourceAuth};
use postrider_core::id::{AccountId, SourceId};

pub(super) fn write(source: &Source, into: &mut Writing<'_>) {
    into.put("account_id", source.account.to_string());
    into.put("name", source.name.as_str());
    into.secret("token", &source.token);
    if let SourceAuth::SharedSecret { header, secret } = &source.auth {
        into.put("auth_header", header.as_str());
        into.secret("auth_secret", secret);
    }
    into.put("provider", source.provider.as_deref());
    into.put("rate_limit", source.rate_limit.map(rate_to_json));
    into.put("active", source.active);
    into.time("created_at", source.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<Source, BadDocument> {
    let auth = match from.maybe("auth_header", text)? {
        None => SourceAuth::None,
        Some(header) => SourceAuth::SharedSecret { header, secret: from.secret("auth_secret")? },
    };
    Ok(Source {
        id: SourceId::from_u64(from.id()),
        account: from.get("account_id", |value| AccountId::parse(value.as_str()?).ok())?,
        name: from.text("name")?,
        token: from.secret("token")?,
        auth,
        provider: from.maybe("provider", text)?,
        rate_limit: from.maybe("rate_limit", |value| rate_from_json(value).ok())?,
        active: from.switch("active")?,
        created_at: from.time("created_at")?,
    })
}
