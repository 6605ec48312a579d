//! `/v1/portal-sessions`: a link with which users of an account look after their own destinations for a while. A
//! session is a key like any other, of scope `portal` and with an end.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::Fields;
use super::refusal::{Body, Conflict, Keyed, Stored};
use super::request::NewPortalSession;
use super::view::Data;
use super::{App, Shared, api_keys, view};
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use postrider_core::limits::URL_BYTES_MAX;
use postrider_core::time::Timestamp;
use postrider_engine::Catalog;
use postrider_store::{ApiKey, Change, Scope};
use ring::hmac;
use std::time::Duration;
use url::form_urlencoded;

const SECONDS_DEFAULT: u64 = 3600;
const SECONDS_MAX: u64 = 24 * 3600;
/// Sessions of one account at once; each is a key in memory.
const SESSIONS_MAX: usize = 1000;
const NAME: &str = "portal session";

/// Make a portal session
///
/// A link for users of the account. It shows them destinations, routes, events and deliveries, and lets them change
/// destinations and routes; no keys, no tokens of sources, nothing of other accounts.
#[utoipa::path(
    post, path = "/v1/portal-sessions", operation_id = "create_portal_session", tag = "portal",
    request_body = NewPortalSession,
    responses((status = 201, description = "The link, this once.", body = Data<view::PortalSession>), Keyed, Conflict, Body, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let seconds = fields.number("expires_in_seconds", seconds)?.unwrap_or(SECONDS_DEFAULT);
    let return_url =
        fields.word("return_url", web_page, "must be a URL that begins with https:// or http://")?;
    fields.finish()?;
    let now = app.engine.clock().now();
    let expires_at = now.after(Duration::from_secs(seconds));
    let (key, token) = api_keys::make(&app, caller.account, NAME.into());
    let session = ApiKey { scope: Scope::Portal, expires_at: Some(expires_at), ..key };
    let shown = view::PortalSession {
        id: session.id.to_string(),
        url: link(&app, &token, return_url.as_deref()),
        token,
        expires_at: expires_at.to_string(),
    };
    app.change(caller, |catalog| Ok((decide(catalog, session, now)?, ()))).await?;
    Ok(view::data(StatusCode::CREATED, &shown))
}

/// Sessions that are over make room for the new one, so that they do not pile up.
fn decide(catalog: &Catalog, session: ApiKey, now: Timestamp) -> Result<Vec<Change>, ApiError> {
    let all = catalog.api_keys(session.account).into_iter().filter(|key| key.scope == Scope::Portal);
    let (live, over): (Vec<_>, Vec<_>) = all.partition(|key| key.counts_at(now));
    if live.len() >= SESSIONS_MAX {
        let sentence = format!("There are {SESSIONS_MAX} portal sessions; wait for one to end or revoke it.");
        return Err(ApiError::conflict("too_many_portal_sessions", sentence));
    }
    let gone = over.into_iter().map(|key| Change::DeleteApiKey(key.id));
    Ok(gone.chain([Change::PutApiKey(session)]).collect())
}

/// What stands behind the `#` is not sent to any server, and so in no log.
fn link(app: &App, token: &str, return_url: Option<&str>) -> String {
    let mut parts = form_urlencoded::Serializer::new(String::new());
    parts.append_pair("token", token);
    if let Some(page) = return_url {
        parts.append_pair("return_url", page);
        parts
            .append_pair("proof", &URL_SAFE_NO_PAD.encode(hmac::sign(&app.link_key(), &proven(token, page))));
    }
    format!("{}/portal#{}", app.public_url, parts.finish())
}

/// No token has a space in it.
fn proven(token: &str, return_url: &str) -> Vec<u8> {
    format!("{token} {return_url}").into_bytes()
}

impl App {
    /// Whether the account that made this token has said where its users go back to. Anybody can write a link that says so.
    pub(crate) fn leads_back(&self, token: &str, return_url: &str, proof: &str) -> bool {
        let proof = URL_SAFE_NO_PAD.decode(proof).unwrap_or_default();
        hmac::verify(&self.link_key(), &proven(token, return_url), &proof).is_ok()
    }

    fn link_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.subkeys.portal_links)
    }
}

fn seconds(number: u64) -> Result<u64, String> {
    let legal = (1..=SECONDS_MAX).contains(&number);
    legal.then_some(number).ok_or_else(|| format!("must be a whole number from 1 to {SECONDS_MAX}"))
}

fn web_page(text: &str) -> Option<String> {
    let parsed = url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    (text.len() <= URL_BYTES_MAX).then(|| parsed.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_a_web_page() {
        assert_eq!(web_page("https://b.test/?a=b&c#d").as_deref(), Some("https://b.test/?a=b&c#d"));
        for bad in ["javascript:alert(1)", "data:text/html,x", "/here", ""] {
            assert_eq!(web_page(bad), None, "{bad}");
        }
    }
}
