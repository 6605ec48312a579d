//! Destinations as documents. Custom headers are sealed whole, since people put keys into them.

use super::fields::{Reading, Writing, text};
use super::{BadDocument, signing, tls};
use crate::codec::{
    circuit_from_json, circuit_to_json, policy_from_json, policy_to_json, rate_from_json, rate_to_json,
};
use crate::{Destination, DestinationAuth, Handshake, Headers};
use postrider_core::destination::{MaxConcurrency, OnDeadLetter, Ordering, TimeoutSeconds};
use postrider_core::id::{AccountId, DestinationId};

pub(super) fn write(destination: &Destination, into: &mut Writing<'_>) {
    into.put("account_id", destination.account.to_string());
    into.put("name", destination.name.as_str());
    into.put("url", destination.url.as_str());
    into.put("max_concurrency", destination.max_concurrency.get());
    into.put("timeout_seconds", destination.timeout.get());
    into.put("retry_policy", destination.retry_policy.as_ref().map(policy_to_json));
    into.put("rate_limit", destination.rate_limit.map(rate_to_json));
    into.put("ordering", destination.ordering.as_str());
    into.put("ordering_key", destination.ordering_key.as_deref());
    into.put("on_dead_letter", destination.on_dead_letter.as_str());
    into.put("adaptive", destination.adaptive);
    into.put("circuit", circuit_to_json(destination.circuit));
    into.put("paused", destination.paused);
    into.put("active", destination.active);
    into.put("disabled_reason", destination.disabled_reason.as_deref());
    match &destination.auth {
        None => {}
        Some(DestinationAuth::Bearer { token }) => into.secret("auth_token", token),
        Some(DestinationAuth::Header { header, value }) => {
            into.put("auth_header", header.as_str());
            into.secret("auth_value", value);
        }
        Some(DestinationAuth::Basic { username, password }) => {
            into.put("auth_username", username.as_str());
            into.secret("auth_password", password);
        }
    }
    if !destination.custom_headers.is_empty() {
        into.secret("custom_headers", destination.custom_headers.as_text());
    }
    if let Some(key) = &destination.event_headers_key {
        into.secret("event_headers_key", key);
    }
    into.secret("signing_secret", &destination.signing_secret);
    signing::write(&destination.signing, into);
    tls::write(&destination.tls, into);
    into.put("preset", destination.preset.as_deref());
    into.put("handshake", destination.handshake.as_str());
    into.time("created_at", destination.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<Destination, BadDocument> {
    Ok(Destination {
        id: DestinationId::from_u64(from.id()),
        account: from.get("account_id", |value| AccountId::parse(value.as_str()?).ok())?,
        name: from.text("name")?,
        url: from.text("url")?,
        max_concurrency: from.get("max_concurrency", |value| MaxConcurrency::new(value.as_u64()?).ok())?,
        timeout: from.get("timeout_seconds", |value| TimeoutSeconds::new(value.as_u64()?).ok())?,
        retry_policy: from.maybe("retry_policy", |value| policy_from_json(value).ok())?,
        rate_limit: from.maybe("rate_limit", |value| rate_from_json(value).ok())?,
        ordering: from.get("ordering", |value| Ordering::from_word(value.as_str()?))?,
        ordering_key: from.maybe("ordering_key", text)?,
        on_dead_letter: from.get("on_dead_letter", |value| OnDeadLetter::from_word(value.as_str()?))?,
        adaptive: from.switch("adaptive")?,
        circuit: from.get("circuit", |value| circuit_from_json(value).ok())?,
        paused: from.switch("paused")?,
        active: from.switch("active")?,
        disabled_reason: from.maybe("disabled_reason", text)?,
        auth: read_auth(from)?,
        custom_headers: Headers::from_text(from.maybe_secret("custom_headers")?.unwrap_or_default()),
        event_headers_key: from.maybe_secret("event_headers_key")?,
        signing_secret: from.secret("signing_secret")?,
        signing: signing::read(from)?,
        tls: tls::read(from)?,
        preset: from.maybe("preset", text)?,
        handshake: from.get("handshake", |value| Handshake::from_word(value.as_str()?))?,
        created_at: from.time("created_at")?,
    })
}

fn read_auth(from: &Reading<'_>) -> Result<Option<DestinationAuth>, BadDocument> {
    if let Some(token) = from.maybe_secret("auth_token")? {
        return Ok(Some(DestinationAuth::Bearer { token }));
    }
    if let Some(username) = from.maybe("auth_username", text)? {
        return Ok(Some(DestinationAuth::Basic { username, password: from.secret("auth_password")? }));
    }
    let Some(header) = from.maybe("auth_header", text)? else { return Ok(None) };
    Ok(Some(DestinationAuth::Header { header, value: from.secret("auth_value")? }))
}
