//! `/v1/accounts`: making a tenant, with its first key, and setting its share.

mod fields;

pub(crate) use self::fields::email;
use self::fields::{Reach, apply};
use super::Shared;
use super::auth::{Caller, MaybeCaller};
use super::error::ApiError;
use super::fields::{Fields, Segment, required};
use super::refusal::{Body, Conflict, Keyed, Stored};
use super::request::{AccountChange, NewAccount};
use super::view::Data;
use super::{App, api_keys, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::AccountId;
use postrider_engine::Catalog;
use postrider_store::{Account, Change, Scope};

/// Make an account with its first key
///
/// Open to everyone while the gateway listens on loopback, else for the admin key alone.
#[utoipa::path(
    post, path = "/v1/accounts", operation_id = "create_account", tag = "accounts",
    security((), ("bearer" = [])),
    request_body = NewAccount,
    responses((status = 201, description = "The account, and its key in full.", body = Data<view::AccountWithKey>), Keyed, Body, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    MaybeCaller(caller): MaybeCaller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let reach = match caller {
        Some(caller) if caller.is_admin() => Reach::Operator(app.retention_days),
        None if app.open_bootstrap => Reach::Tenant,
        None => return Err(ApiError::unauthorized()),
        Some(caller) => return Err(ApiError::scope_needed(Scope::Admin, caller.scope)),
    };
    let id = AccountId::from_u64(app.engine.next_id());
    let name = required("name", fields.name("name")?)?;
    let account = apply(Account::new(id, name, app.engine.clock().now()), reach, &mut fields)?;
    fields.finish()?;
    let (key, text) = api_keys::make(&app, id, "first key".into());
    let changes = vec![Change::PutAccount(account.clone()), Change::PutApiKey(key)];
    app.engine.change(|_| Ok::<_, ApiError>((changes, ()))).await?;
    Ok(view::data(
        StatusCode::CREATED,
        &view::AccountWithKey { account: view::Account::of(&account), api_key: text },
    ))
}

/// List accounts
///
/// The caller's own; all of them for the admin key.
#[utoipa::path(
    get, path = "/v1/accounts", operation_id = "list_accounts", tag = "accounts",
    responses((status = 200, description = "The accounts.", body = Data<Vec<view::Account>>), Keyed)
)]
pub(crate) async fn list(State(app): Shared, caller: Caller) -> Result<Response, ApiError> {
    let catalog = app.engine.catalog();
    let accounts = match caller.is_admin() {
        true => catalog.accounts(),
        false => catalog.account(caller.account).cloned().into_iter().collect(),
    };
    Ok(view::data(StatusCode::OK, &accounts.iter().map(view::Account::of).collect::<Vec<_>>()))
}

/// Get an account
#[utoipa::path(
    get, path = "/v1/accounts/{id}", operation_id = "get_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account.")),
    responses((status = 200, description = "The account.", body = Data<view::Account>), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let account = known(&app.engine.catalog(), caller, &id)?;
    Ok(view::data(StatusCode::OK, &view::Account::of(&account)))
}

/// Change an account
///
/// Its name and email by its own key; its plan, share and limits by the admin key.
#[utoipa::path(
    patch, path = "/v1/accounts/{id}", operation_id = "update_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account.")),
    request_body = AccountChange,
    responses((status = 200, description = "The account as it is now.", body = Data<view::Account>), Keyed, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let reach = if caller.is_admin() { Reach::Operator(app.retention_days) } else { Reach::Tenant };
    let decide = |catalog: &Catalog| {
        let found = known(catalog, caller, &id)?;
        let name = fields.name("name")?.unwrap_or_else(|| found.name.clone());
        let changed = apply(Account { name, ..found }, reach, &mut fields)?;
        fields.finish()?;
        Ok::<_, ApiError>((vec![Change::PutAccount(changed.clone())], changed))
    };
    let changed = app.engine.change(decide).await?;
    Ok(view::data(StatusCode::OK, &view::Account::of(&changed)))
}

/// Delete an account
///
/// With its keys. Its destinations and sources must be gone; its events go with the gateway's retention.
#[utoipa::path(
    delete, path = "/v1/accounts/{id}", operation_id = "delete_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account.")),
    responses((status = 204, description = "It is deleted."), Keyed, Conflict, Stored)
)]
pub(crate) async fn delete(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let decide = |catalog: &Catalog| {
        let found = known(catalog, caller, &id)?.id;
        check_empty(&app, catalog, found)?;
        let keys = catalog.api_keys(found).into_iter().map(|key| Change::DeleteApiKey(key.id));
        let changes: Vec<Change> = keys.chain([Change::DeleteAccount(found)]).collect();
        Ok::<_, ApiError>((changes, ()))
    };
    app.engine.change(decide).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn check_empty(app: &App, catalog: &Catalog, id: AccountId) -> Result<(), ApiError> {
    if id == app.first.account {
        return Err(ApiError::conflict(
            "account_in_use",
            "The first account is the operator's own and stays.",
        ));
    }
    let (destinations, sources) = (catalog.destinations(id).len(), catalog.sources(id).len());
    if destinations + sources > 0 {
        let sentence =
            format!("This account has {destinations} destinations and {sources} sources; delete them first.");
        return Err(ApiError::conflict("account_in_use", sentence));
    }
    Ok(())
}

/// A tenant sees its own account, the operator every one.
fn known(catalog: &Catalog, caller: Caller, id: &str) -> Result<Account, ApiError> {
    let id = AccountId::parse(id).ok().filter(|id| caller.is_admin() || *id == caller.account);
    id.and_then(|id| catalog.account(id).cloned()).ok_or_else(|| ApiError::not_found("account"))
}

/// The account that a caller acts for.
pub(crate) fn own(catalog: &Catalog, caller: Caller) -> Result<Account, ApiError> {
    catalog.account(caller.account).cloned().ok_or_else(|| ApiError::not_found("account"))
}
