//! `/v1/api-keys`: keys of the caller's account. A key is shown whole once, when it is made.

use super::account_room;
use super::auth::Caller;
use super::cursor::List as Listed;
use super::destinations::rate_limit;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment, required};
use super::paging::PageParameters;
use super::refusal::{Body, Conflict, Keyed, Queried, Stale, Stored};
use super::request::{ApiKeyChange, NewApiKey};
use super::view::{Data, List};
use super::{App, Shared, change, paging, view};
use crate::serve::admin_key::{hash, random_key};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{AccountId, ApiKeyId};
use postrider_core::time::Timestamp;
use postrider_engine::Catalog;
use postrider_store::{ApiKey, Change, Scope};
use std::time::Duration;

/// Enough of a key for a person to tell it from others.
const SHOWN_PREFIX: usize = 10;
/// Ten years.
const EXPIRES_IN_SECONDS_MAX: u64 = 315_360_000;

/// A new key to everything of an account, and its text.
pub(crate) fn make(app: &App, account: AccountId, name: String) -> (ApiKey, String) {
    let text = random_key("hk_");
    let key = ApiKey {
        id: ApiKeyId::from_u64(app.engine.next_id()),
        account,
        name,
        prefix: text.chars().take(SHOWN_PREFIX).collect(),
        hash: hash(&text),
        scope: Scope::Account,
        rate_limit: None,
        created_at: app.engine.clock().now(),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    };
    (key, text)
}

/// List API keys
///
/// Those of the caller's account, revoked and expired ones too.
#[utoipa::path(
    get, path = "/v1/api-keys", operation_id = "list_api_keys", tag = "api keys",
    params(PageParameters),
    responses((status = 200, description = "The keys.", body = List<view::ApiKey>), Keyed, Queried)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let keys = visible(&app.engine.catalog(), caller);
    let page = paging::page(&parameters, Listed::ApiKeys, keys, |key| key.id.as_u64())?;
    Ok(page.answer(view::ApiKey::of))
}

/// Make an API key
///
/// For everything of the account unless its scope says less. Only an admin makes one of scope `admin`.
#[utoipa::path(
    post, path = "/v1/api-keys", operation_id = "create_api_key", tag = "api keys",
    request_body = NewApiKey,
    responses((status = 201, description = "The key, in full this once.", body = Data<view::ApiKey>, headers(("ETag"))), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let name = required("name", fields.name("name")?)?;
    let scope = scope(&mut fields)?;
    let expires_at = expiry(&mut fields, app.engine.clock().now())?;
    let rate_limit = rate_limit(&mut fields, None)?;
    fields.finish()?;
    if scope == Scope::Admin && !caller.is_admin() {
        return Err(ApiError::scope_needed(Scope::Admin, caller.scope));
    }
    let (key, text) = make(&app, caller.account, name);
    let key = ApiKey { scope, expires_at, rate_limit, ..key };
    let (shown, tag) = (view::ApiKey::made(&key, text).also_as_api_key(), tag(&key));
    let decide = |catalog: &Catalog| {
        account_room::for_api_key(catalog, caller)?;
        Ok::<_, ApiError>((vec![Change::PutApiKey(key)], ()))
    };
    app.change(caller, decide).await?;
    Ok(tag.on(view::data(StatusCode::CREATED, &shown)))
}

/// Get an API key
#[utoipa::path(
    get, path = "/v1/api-keys/{id}", operation_id = "get_api_key", tag = "api keys",
    params(("id" = String, Path, description = "The id of the key."), IfNoneMatch),
    responses((status = 200, description = "The key, without its secret part.", body = Data<view::ApiKey>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let found = known(&app.engine.catalog(), caller, &id)?;
    Ok(if_none_match.answer(&tag(&found), &view::ApiKey::of(&found)))
}

/// Change an API key
///
/// Its name, its end and its rate limit; what it is for stays.
#[utoipa::path(
    patch, path = "/v1/api-keys/{id}", operation_id = "update_api_key", tag = "api keys",
    params(("id" = String, Path, description = "The id of the key."), IfMatch),
    request_body = ApiKeyChange,
    responses((status = 200, description = "The key as it is now.", body = Data<view::ApiKey>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let now = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let found = known(catalog, caller, &id)?;
        if_match.check(&tag(&found))?;
        let changed = apply(found, &mut fields, now)?;
        fields.finish()?;
        Ok::<_, ApiError>((vec![Change::PutApiKey(changed.clone())], changed))
    };
    let changed = app.change(caller, decide).await?;
    Ok(tag(&changed).on(view::data(StatusCode::OK, &view::ApiKey::of(&changed))))
}

/// Revoke an API key
///
/// It stops working at once.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", operation_id = "revoke_api_key", tag = "api keys",
    params(("id" = String, Path, description = "The id of the key."), IfMatch),
    responses((status = 204, description = "It is revoked."), Keyed, Stale, Stored)
)]
pub(crate) async fn revoke(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
) -> Result<StatusCode, ApiError> {
    let now = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let found = known(catalog, caller, &id)?;
        if_match.check(&tag(&found))?;
        Ok(Change::PutApiKey(ApiKey { revoked_at: found.revoked_at.or(Some(now)), ..found }))
    };
    change(&app, caller, decide).await
}

/// Of its settings alone: its last use changes by itself.
fn tag(key: &ApiKey) -> EntityTag {
    EntityTag::of(&view::ApiKey::of(&ApiKey { last_used_at: None, ..key.clone() }))
}

/// An admin's keys are no affair of the account that they are kept with.
fn visible(catalog: &Catalog, caller: Caller) -> Vec<ApiKey> {
    let mut keys = catalog.api_keys(caller.account);
    keys.retain(|key| key.scope != Scope::Admin || caller.is_admin());
    keys
}

fn known(catalog: &Catalog, caller: Caller, id: &str) -> Result<ApiKey, ApiError> {
    let found = |id: ApiKeyId| visible(catalog, caller).into_iter().find(|key| key.id == id);
    ApiKeyId::parse(id).ok().and_then(found).ok_or_else(|| ApiError::not_found("API key"))
}

/// `null` takes a limit or an end away.
fn apply(mut into: ApiKey, fields: &mut Fields, now: Timestamp) -> Result<ApiKey, ApiError> {
    into.name = fields.name("name")?.unwrap_or(into.name);
    let ends = ["expires_at", "expires_in_seconds"].map(|field| fields.mentions(field));
    if ends.contains(&true) {
        if into.scope == Scope::Portal {
            return Err(ApiError::field("expires_at", "of a portal session stays; make another session"));
        }
        into.expires_at = expiry(fields, now)?;
    }
    into.rate_limit = rate_limit(fields, into.rate_limit)?;
    Ok(into)
}

pub(super) fn scope(fields: &mut Fields) -> Result<Scope, ApiError> {
    let made_by_hand = |word: &str| Scope::from_word(word).filter(|scope| *scope != Scope::Portal);
    let scope = fields.word("scope", made_by_hand, "must be admin, account, read or ingest")?;
    match (scope, fields.word("role", by_role, "must be owner, admin or viewer; scope says it more exactly")?)
    {
        (Some(_), Some(_)) => Err(ApiError::field("role", "cannot be given beside scope")),
        (scope, role) => Ok(scope.or(role).unwrap_or_default()),
    }
}

/// A role of GetHook's wire. Its `editor` has no scope here: the next one up may make keys, which an editor may not.
fn by_role(word: &str) -> Option<Scope> {
    match word {
        "owner" | "admin" => Some(Scope::Account),
        "viewer" => Some(Scope::Read),
        _ => None,
    }
}

/// The end of a key: a moment that is not yet over, or so long from now.
pub(crate) fn expiry(fields: &mut Fields, now: Timestamp) -> Result<Option<Timestamp>, ApiError> {
    let within = |seconds: u64| match seconds {
        1..=EXPIRES_IN_SECONDS_MAX => Ok(now.after(Duration::from_secs(seconds))),
        _ => Err(format!("must be a whole number from 1 to {EXPIRES_IN_SECONDS_MAX}")),
    };
    let future = |text: &str| Timestamp::parse_rfc3339(text).filter(|at| *at > now);
    let allowed = "must be a time in the future, such as 2030-01-31T12:00:00Z";
    let at = fields.word("expires_at", future, allowed)?;
    match (at, fields.number("expires_in_seconds", within)?) {
        (Some(_), Some(_)) => Err(ApiError::field("expires_in_seconds", "cannot be given beside expires_at")),
        (at, after) => Ok(at.or(after)),
    }
}
