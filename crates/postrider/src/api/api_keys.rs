//! `/v1/api-keys`: keys of the caller's account. A key is shown whole once, when it is made.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::{Fields, Segment, required};
use super::refusal::{Body, Keyed, Stored};
use super::request::Named;
use super::view::Data;
use super::{App, Shared, change, view};
use crate::serve::admin_key::{hash, random_key};
use axum::extract::State;
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
    responses((status = 200, description = "The keys.", body = Data<Vec<view::ApiKey>>), Keyed)
)]
pub(crate) async fn list(State(app): Shared, caller: Caller) -> Response {
    let keys = app.engine.catalog().api_keys(caller.account);
    view::data(StatusCode::OK, &keys.iter().map(view::ApiKey::of).collect::<Vec<_>>())
}

/// Make an API key
#[utoipa::path(
    post, path = "/v1/api-keys", operation_id = "create_api_key", tag = "api keys",
    request_body = Named,
    responses((status = 201, description = "The key, in full this once.", body = Data<view::ApiKey>), Keyed, Body, Stored)
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
    shown.key = Some(text);
    app.engine.change(|_| Ok::<_, ApiError>((vec![Change::PutApiKey(key)], ()))).await?;
    Ok(view::data(StatusCode::CREATED, &shown))
}

/// Revoke an API key
///
/// It stops working at once.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", operation_id = "revoke_api_key", tag = "api keys",
    params(("id" = String, Path, description = "The id of the key.")),
    responses((status = 204, description = "It is revoked."), Keyed, Stored)
)]
pub(crate) async fn revoke(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let not_found = || ApiError::not_found("API key");
    let id = ApiKeyId::parse(&id).map_err(|_| not_found())?;
    let now = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let found =
            catalog.api_keys(caller.account).into_iter().find(|key| key.id == id).ok_or_else(not_found)?;
        Ok(Change::PutApiKey(ApiKey { revoked_at: found.revoked_at.or(Some(now)), ..found }))
    };
    change(&app, decide).await
}
