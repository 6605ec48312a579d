//! `/v1/accounts`: making a tenant, with its first key, and setting its share.

mod fields;

pub(crate) use self::fields::email;
use self::fields::{Reach, apply, operational_destination};
use super::Shared;
use super::audit::By;
use super::auth::{Caller, Founder};
use super::cursor::List as Listed;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment, required};
use super::paging::PageParameters;
use super::refusal::{Body, Conflict, Keyed, Queried, Stale, Stored};
use super::request::{AccountChange, NewAccount};
use super::view::{Data, List};
use super::{App, api_keys, paging, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::AccountId;
use postrider_engine::Catalog;
use postrider_store::{Account, Change};

/// Make an account with its first key
///
/// Open to this machine while the gateway listens on loopback and has no `public_url`, else for the admin key alone.
#[utoipa::path(
    post, path = "/v1/accounts", operation_id = "create_account", tag = "accounts",
    security((), ("bearer" = [])),
    request_body = NewAccount,
    responses((status = 201, description = "The account, and its key in full this once.", body = Data<view::AccountWithKey>, headers(("ETag"))), Keyed, Body, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    founder: Founder,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = AccountId::from_u64(app.engine.next_id());
    let (reach, by) = match founder {
        Founder::Operator(caller) => (Reach::Operator(app.retention_days), By::from(caller)),
        Founder::Newcomer => (Reach::Tenant, By::newcomer(id)),
    };
    let name = required("name", fields.name("name")?)?;
    let account = apply(Account::new(id, name, app.engine.clock().now()), reach, &mut fields)?;
    fields.finish()?;
    let (key, text) = api_keys::make(&app, id, "first key".into());
    let changes = vec![Change::PutAccount(account.clone()), Change::PutApiKey(key.clone())];
    app.change(by, |_| Ok((changes, ()))).await?;
    let api_key = view::ApiKey::made(&key, text);
    let shown = view::AccountWithKey { account: view::Account::seen(&account, app.retention_days), api_key };
    Ok(tag(&account).on(view::data(StatusCode::CREATED, &shown)))
}

/// List accounts
///
/// The caller's own; all of them for the admin key.
#[utoipa::path(
    get, path = "/v1/accounts", operation_id = "list_accounts", tag = "accounts",
    params(PageParameters),
    responses((status = 200, description = "The accounts.", body = List<view::Account>), Keyed, Queried)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let catalog = app.engine.catalog();
    let accounts = match caller.is_admin() {
        true => catalog.accounts(),
        false => catalog.account(caller.account).cloned().into_iter().collect(),
    };
    let page = paging::page(&parameters, Listed::Accounts, accounts, |account| account.id.as_u64())?;
    Ok(page.answer(|account| view::Account::seen(account, app.retention_days)))
}

/// Get an account
#[utoipa::path(
    get, path = "/v1/accounts/{id}", operation_id = "get_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account."), IfNoneMatch),
    responses((status = 200, description = "The account.", body = Data<view::Account>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let found = known(&app.engine.catalog(), caller, &id)?;
    Ok(if_none_match.answer(&tag(&found), &view::Account::seen(&found, app.retention_days)))
}

/// Change an account
///
/// Its name, email and operational destination by its own key; its plan, share and limits by the admin key.
#[utoipa::path(
    patch, path = "/v1/accounts/{id}", operation_id = "update_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account."), IfMatch),
    request_body = AccountChange,
    responses((status = 200, description = "The account as it is now.", body = Data<view::Account>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let reach = if caller.is_admin() { Reach::Operator(app.retention_days) } else { Reach::Tenant };
    let decide = |catalog: &Catalog| {
        let found = known(catalog, caller, &id)?;
        if_match.check(&tag(&found))?;
        let name = fields.name("name")?.unwrap_or_else(|| found.name.clone());
        let changed = operational_destination(Account { name, ..found }, catalog, &mut fields)?;
        let changed = apply(changed, reach, &mut fields)?;
        fields.finish()?;
        Ok::<_, ApiError>((vec![Change::PutAccount(changed.clone())], changed))
    };
    let changed = app.change(caller, decide).await?;
    let shown = view::Account::seen(&changed, app.retention_days);
    Ok(tag(&changed).on(view::data(StatusCode::OK, &shown)))
}

/// Delete an account
///
/// With its keys and event types. Its destinations and sources must be gone; its events go with the gateway's retention.
#[utoipa::path(
    delete, path = "/v1/accounts/{id}", operation_id = "delete_account", tag = "accounts",
    params(("id" = String, Path, description = "The id of the account."), IfMatch),
    responses((status = 204, description = "It is deleted."), Keyed, Stale, Conflict, Stored)
)]
pub(crate) async fn delete(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
) -> Result<StatusCode, ApiError> {
    let decide = |catalog: &Catalog| {
        let found = known(catalog, caller, &id)?;
        if_match.check(&tag(&found))?;
        let found = found.id;
        check_empty(&app, catalog, found)?;
        let keys = catalog.api_keys(found).into_iter().map(|key| Change::DeleteApiKey(key.id));
        let types = catalog.event_types().all(found).into_iter();
        let types = types.map(|described| Change::DeleteEventType(described.id));
        let changes: Vec<Change> = keys.chain(types).chain([Change::DeleteAccount(found)]).collect();
        Ok::<_, ApiError>((changes, ()))
    };
    app.change(caller, decide).await?;
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

/// Of what is set: for how long the gateway keeps events is not the account's.
fn tag(account: &Account) -> EntityTag {
    EntityTag::of(&view::Account::of(account))
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
