//! `/v1/accounts`: making a tenant, with its first key.

use super::Shared;
use super::auth::{Caller, MaybeCaller};
use super::error::ApiError;
use super::fields::{Fields, required};
use super::{api_keys, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::AccountId;
use postrider_store::{Account, Change};
use serde_json::json;

pub(crate) async fn create(
    State(app): Shared,
    MaybeCaller(caller): MaybeCaller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    match caller {
        Some(caller) if caller.admin => {}
        None if app.open_bootstrap => {}
        None => return Err(ApiError::unauthorized()),
        Some(_) => return Err(ApiError::forbidden("Only the admin key makes accounts.")),
    }
    let name = required("name", fields.name("name")?)?;
    fields.finish()?;
    let id = AccountId::from_u64(app.engine.next_id());
    let account = Account { id, name, created_at: app.engine.clock().now() };
    let (key, text) = api_keys::make(&app, id, "first key".into());
    let changes = vec![Change::PutAccount(account.clone()), Change::PutApiKey(key)];
    app.engine.change(|_| Ok::<_, ApiError>((changes, ()))).await?;
    Ok(view::data(StatusCode::CREATED, &json!({ "account": view::account(&account), "api_key": text })))
}

pub(crate) async fn list(State(app): Shared, caller: Caller) -> Result<Response, ApiError> {
    let catalog = app.engine.catalog();
    let accounts = match caller.admin {
        true => catalog.accounts(),
        false => catalog.account(caller.account).cloned().into_iter().collect(),
    };
    Ok(view::data(StatusCode::OK, &accounts.iter().map(view::account).collect()))
}
