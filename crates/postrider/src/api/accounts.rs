//! `/v1/accounts`: making a tenant, with its first key, and setting its share.

use super::Shared;
use super::auth::{Caller, MaybeCaller};
use super::error::ApiError;
use super::fields::{Fields, Segment, required};
use super::refusal::{Body, Forbidden, Keyed, Stored};
use super::request::{AccountChange, Named};
use super::view::Data;
use super::{api_keys, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::account::Weight;
use postrider_core::id::AccountId;
use postrider_core::limits::{PENDING_LIMIT_MAX, SLOTS_MAX};
use postrider_engine::Catalog;
use postrider_store::{Account, Change};

/// Make an account with its first key
///
/// Open to everyone while the gateway listens on loopback, else for the admin key alone.
#[utoipa::path(
    post, path = "/v1/accounts", operation_id = "create_account", tag = "accounts",
    security((), ("bearer" = [])),
    request_body = Named,
    responses((status = 201, description = "The account, and its key in full.", body = Data<view::NewAccount>), Keyed, Forbidden, Body, Stored)
)]
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
    let account = Account::new(id, name, app.engine.clock().now());
    let (key, text) = api_keys::make(&app, id, "first key".into());
    let changes = vec![Change::PutAccount(account.clone()), Change::PutApiKey(key)];
    app.engine.change(|_| Ok::<_, ApiError>((changes, ()))).await?;
    Ok(view::data(
        StatusCode::CREATED,
        &view::NewAccount { account: view::Account::of(&account), api_key: text },
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
    let accounts = match caller.admin {
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
/// Its name by its own key; its share and limits by the admin key.
#[utoipa::path(
    patch, path = "/v1/accounts/{id}", operation_id = "update_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account.")),
    request_body = AccountChange,
    responses((status = 200, description = "The account as it is now.", body = Data<view::Account>), Keyed, Forbidden, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let decide = |catalog: &Catalog| {
        let changed = apply(known(catalog, caller, &id)?, caller, &mut fields)?;
        fields.finish()?;
        Ok::<_, ApiError>((vec![Change::PutAccount(changed.clone())], changed))
    };
    let changed = app.engine.change(decide).await?;
    Ok(view::data(StatusCode::OK, &view::Account::of(&changed)))
}

/// A tenant sees its own account, the operator every one.
fn known(catalog: &Catalog, caller: Caller, id: &str) -> Result<Account, ApiError> {
    let id = AccountId::parse(id).ok().filter(|id| caller.admin || *id == caller.account);
    id.and_then(|id| catalog.account(id).cloned()).ok_or_else(|| ApiError::not_found("account"))
}

/// `null` takes a limit away. A tenant cannot raise its own share.
fn apply(mut into: Account, caller: Caller, fields: &mut Fields) -> Result<Account, ApiError> {
    into.name = fields.name("name")?.unwrap_or(into.name);
    let shares = ["weight", "max_in_flight", "max_pending", "max_pending_bytes"];
    let asked = shares.map(|field| fields.mentions(field));
    if !caller.admin && asked.contains(&true) {
        let sentence = format!("Only the admin key changes {}.", shares.join(", "));
        return Err(ApiError::forbidden(&sentence));
    }
    into.weight = fields.number("weight", Weight::new)?.unwrap_or(into.weight);
    let [_, in_flight, pending, bytes] = asked;
    if in_flight {
        let within = |number| up_to(number, u64::from(SLOTS_MAX));
        into.max_in_flight =
            fields.number("max_in_flight", within)?.and_then(|most| u32::try_from(most).ok());
    }
    if pending {
        into.max_pending = fields.number("max_pending", |number| up_to(number, PENDING_LIMIT_MAX))?;
    }
    if bytes {
        into.max_pending_bytes =
            fields.number("max_pending_bytes", |number| up_to(number, PENDING_LIMIT_MAX))?;
    }
    Ok(into)
}

fn up_to(number: u64, most: u64) -> Result<u64, String> {
    let legal = (1..=most).contains(&number);
    legal.then_some(number).ok_or_else(|| format!("must be a whole number from 1 to {most}"))
}
