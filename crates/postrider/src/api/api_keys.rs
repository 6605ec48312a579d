//! `/v1/api-keys`: keys of the caller's account. A key is shown whole once, when it is made.

use super::auth::Caller;
use super::cursor::List as Listed;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment, required};
use super::paging::PageParameters;
use super::refusal::{Body, Keyed, Queried, Stale, Stored};
use super::request::{NameChange, Named};
use super::view::{Data, List};
use super::{App, Shared, change, paging, view};
use crate::serve::admin_key::{hash, random_key};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{AccountId, ApiKeyId};
use postrider_engine::Catalog;
use postrider_store::{ApiKey, Change};

/// Enough of a key for a person to tell it from others.
const SHOWN_PREFIX: usize = 10;

/// A new key and its text.
pub(crate) fn make(app: &App, account: AccountId, name: String) -> (ApiKey, String) {
    let text = random_key("hk_");
    let key = ApiKey {
        id: ApiKeyId::from_u64(app.engine.next_id()),
        account,
        name,
        prefix: text.chars().take(SHOWN_PREFIX).collect(),
        hash: hash(&text),
        created_at: app.engine.clock().now(),
        revoked_at: None,
    };
    (key, text)
}

/// List API keys
///
/// Those of the caller's account, revoked ones too.
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
    let keys = app.engine.catalog().api_keys(caller.account);
    let page = paging::page(&parameters, Listed::ApiKeys, keys, |key| key.id.as_u64())?;
    Ok(page.answer(view::ApiKey::of))
}

/// Make an API key
#[utoipa::path(
    post, path = "/v1/api-keys", operation_id = "create_api_key", tag = "api keys",
    request_body = Named,
    responses((status = 201, description = "The key, in full this once.", body = Data<view::ApiKey>, headers(("ETag"))), Keyed, Body, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let name = required("name", fields.name("name")?)?;
    fields.finish()?;
    let (key, text) = make(&app, caller.account, name);
    let mut shown = view::ApiKey::of(&key);
    let tag = EntityTag::of(&shown);
    shown.key = Some(text);
    app.engine.change(|_| Ok::<_, ApiError>((vec![Change::PutApiKey(key)], ()))).await?;
    Ok(tag.on(view::data(StatusCode::CREATED, &shown)))
}

/// Get an API key
#[utoipa::path(
    get, path = "/v1/api-keys/{id}", operation_id = "get_api_key", tag = "api keys",
    params(("id" = String, Path, description = "The id of the key."), IfNoneMatch),
    responses((status = 200, description = "The key, without its secret part.", body = Data<view::ApiKey>, headers(("ETag"))), (status = 304, description = "It is as `If-None-Match` says."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let shown = view::ApiKey::of(&known(&app.engine.catalog(), caller, &id)?);
    Ok(if_none_match.answer(&EntityTag::of(&shown), &shown))
}

/// Rename an API key
#[utoipa::path(
    patch, path = "/v1/api-keys/{id}", operation_id = "update_api_key", tag = "api keys",
    params(("id" = String, Path, description = "The id of the key."), IfMatch),
    request_body = NameChange,
    responses((status = 200, description = "The key as it is now.", body = Data<view::ApiKey>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let decide = |catalog: &Catalog| {
        let mut found = known(catalog, caller, &id)?;
        if_match.check(&EntityTag::of(&view::ApiKey::of(&found)))?;
        found.name = fields.name("name")?.unwrap_or(found.name);
        fields.finish()?;
        let shown = view::ApiKey::of(&found);
        Ok::<_, ApiError>((vec![Change::PutApiKey(found)], shown))
    };
    let shown = app.engine.change(decide).await?;
    Ok(EntityTag::of(&shown).on(view::data(StatusCode::OK, &shown)))
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
        if_match.check(&EntityTag::of(&view::ApiKey::of(&found)))?;
        Ok(Change::PutApiKey(ApiKey { revoked_at: found.revoked_at.or(Some(now)), ..found }))
    };
    change(&app, decide).await
}

fn known(catalog: &Catalog, caller: Caller, id: &str) -> Result<ApiKey, ApiError> {
    let id = ApiKeyId::parse(id).ok();
    let found = catalog.api_keys(caller.account).into_iter().find(|key| Some(key.id) == id);
    found.ok_or_else(|| ApiError::not_found("API key"))
}
