//! `/v1/sources`: where events come in.

use super::access::Power;
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
use super::request::{NewSource, SourceChange};
use super::view::{Data, List};
use super::{App, Shared, change, paging, verification, view};
use crate::serve::bootstrap::new_source;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::SourceId;
use postrider_engine::Catalog;
use postrider_store::{Change, Source};
use std::sync::Arc;

/// List sources
#[utoipa::path(
    get, path = "/v1/sources", operation_id = "list_sources", tag = "sources",
    params(PageParameters),
    responses((status = 200, description = "The sources of the account.", body = List<view::Source>), Keyed, Queried)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let sources = app.engine.catalog().sources(caller.account);
    let page = paging::page(&parameters, Listed::Sources, sources, |source| source.id.as_u64())?;
    Ok(page.answer(|source| shown_to(caller, &app, source)))
}

/// Get a source
#[utoipa::path(
    get, path = "/v1/sources/{id}", operation_id = "get_source", tag = "sources",
    params(("id" = String, Path, description = "The id of the source."), IfNoneMatch),
    responses((status = 200, description = "The source.", body = Data<view::Source>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let source = app.engine.catalog().source(caller.account, id).cloned().ok_or_else(not_found)?;
    Ok(if_none_match.answer(&tag(&app, &source), &shown_to(caller, &app, &source)))
}

/// Make a source
#[utoipa::path(
    post, path = "/v1/sources", operation_id = "create_source", tag = "sources",
    request_body = NewSource,
    responses((status = 201, description = "The source, with the URL to post events to.", body = Data<view::Source>, headers(("ETag"))), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let name = required("name", fields.name("name")?)?;
    let rate_limit = rate_limit(&mut fields, None)?;
    let source = verification::changed(new_source(&app.engine, caller.account, &name), &mut fields)?;
    fields.finish()?;
    let source = Source { rate_limit, ..source };
    let (shown, tag) = (view::Source::of(&source, &app.public_url), tag(&app, &source));
    let decide = |catalog: &Catalog| {
        account_room::for_source(catalog, caller)?;
        Ok::<_, ApiError>((vec![Change::PutSource(source)], ()))
    };
    app.change(caller, decide).await?;
    Ok(tag.on(view::data(StatusCode::CREATED, &shown)))
}

/// Change a source
///
/// What is not given stays. `verification_config` is replaced as a whole; its secrets stay when none is given.
#[utoipa::path(
    patch, path = "/v1/sources/{id}", operation_id = "update_source", tag = "sources",
    params(("id" = String, Path, description = "The id of the source."), IfMatch),
    request_body = SourceChange,
    responses((status = 200, description = "The source as it is now.", body = Data<view::Source>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let decide = |catalog: &Catalog| {
        let found = catalog.source(caller.account, id).ok_or_else(not_found)?;
        if_match.check(&tag(&app, found))?;
        let mut source = Source::clone(found);
        source.name = fields.name("name")?.unwrap_or(source.name);
        source.active = status(&mut fields)?.unwrap_or(source.active);
        source.rate_limit = rate_limit(&mut fields, source.rate_limit)?;
        let source = verification::changed(source, &mut fields)?;
        fields.finish()?;
        let shown = (view::Source::of(&source, &app.public_url), tag(&app, &source));
        Ok::<_, ApiError>((vec![Change::PutSource(source)], shown))
    };
    let (shown, tag) = app.change(caller, decide).await?;
    Ok(tag.on(view::data(StatusCode::OK, &shown)))
}

/// Delete a source
///
/// Its URL takes no more events; those that came in stay.
#[utoipa::path(
    delete, path = "/v1/sources/{id}", operation_id = "delete_source", tag = "sources",
    params(("id" = String, Path, description = "The id of the source."), IfMatch),
    responses((status = 204, description = "It is deleted."), Keyed, Stale, Stored)
)]
pub(crate) async fn delete(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
) -> Result<StatusCode, ApiError> {
    let id = parse(&id)?;
    let decide = |catalog: &Catalog| {
        let found = catalog.source(caller.account, id).ok_or_else(not_found)?;
        if_match.check(&tag(&app, found))?;
        Ok(Change::DeleteSource(id))
    };
    change(&app, caller, decide).await
}

/// Whether it is to be active.
pub(super) fn status(fields: &mut Fields) -> Result<Option<bool>, ApiError> {
    fields.word("status", is_active, "must be active or inactive")
}

fn is_active(status: &str) -> Option<bool> {
    match status {
        "active" => Some(true),
        "inactive" => Some(false),
        _ => None,
    }
}

/// The same for all, whether they are shown the token or not.
fn tag(app: &App, source: &Source) -> EntityTag {
    let shown = view::Source::of(source, &app.public_url);
    EntityTag::with_secrets(app, &shown, &Change::PutSource(source.clone()))
}

/// Who has the token may send, so it is for those who may make sources themselves.
fn shown_to(caller: Caller, app: &App, source: &Source) -> view::Source {
    let shown = view::Source::of(source, &app.public_url);
    if caller.has(Power::Manage) { shown } else { shown.without_token() }
}

/// A source of the caller's account.
pub(crate) fn known(catalog: &Catalog, caller: Caller, id: &str) -> Result<Arc<Source>, ApiError> {
    catalog.source(caller.account, parse(id)?).cloned().ok_or_else(not_found)
}

fn parse(id: &str) -> Result<SourceId, ApiError> {
    SourceId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("source")
}
