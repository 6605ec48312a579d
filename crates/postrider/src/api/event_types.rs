//! `/v1/event-types`: what events of a type must look like.

use super::auth::Caller;
use super::cursor::List as Listed;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment, required};
use super::paging::PageParameters;
use super::refusal::{Body, Conflict, Keyed, Queried, Stale, Stored};
use super::request::{EventTypeChange, NewEventType};
use super::view::{Data, List};
use super::{Shared, change, paging, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::event::EventType;
use postrider_core::id::EventTypeId;
use postrider_core::limits::{DESCRIPTION_CHARS_MAX, EVENT_TYPES_MAX};
use postrider_engine::{Catalog, Schema};
use postrider_store::{Change, DescribedType};
use serde_json::Value;

/// List event types
#[utoipa::path(
    get, path = "/v1/event-types", operation_id = "list_event_types", tag = "event types",
    params(PageParameters),
    responses((status = 200, description = "The event types that the account has described.", body = List<view::EventType>), Keyed, Queried)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let all = app.engine.catalog().event_types().all(caller.account);
    let page = paging::page(&parameters, Listed::EventTypes, all, |found| found.id.as_u64())?;
    Ok(page.answer(|found| view::EventType::of(found)))
}

/// Get an event type
#[utoipa::path(
    get, path = "/v1/event-types/{id}", operation_id = "get_event_type", tag = "event types",
    params(("id" = String, Path, description = "The id of the event type."), IfNoneMatch),
    responses((status = 200, description = "The event type.", body = Data<view::EventType>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let found = app.engine.catalog().event_types().get(caller.account, id).cloned().ok_or_else(not_found)?;
    Ok(if_none_match.answer(&tag(&found), &view::EventType::of(&found)))
}

/// Describe an event type
///
/// From then on events of this type that do not meet its schema are refused with 422 `schema_mismatch`.
#[utoipa::path(
    post, path = "/v1/event-types", operation_id = "create_event_type", tag = "event types",
    request_body = NewEventType,
    responses((status = 201, description = "The event type.", body = Data<view::EventType>, headers(("ETag"))), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let made = DescribedType {
        id: EventTypeId::from_u64(app.engine.next_id()),
        account: caller.account,
        event_type: required("event_type", event_type(&mut fields)?)?,
        schema: required("schema", schema(&mut fields)?)?,
        description: description(&mut fields)?,
        created_at: app.engine.clock().now(),
    };
    fields.finish()?;
    let decide = |catalog: &Catalog| {
        if catalog.event_types().all(caller.account).len() >= EVENT_TYPES_MAX {
            let sentence =
                format!("An account describes at most {EVENT_TYPES_MAX} event types; delete one first.");
            return Err(ApiError::conflict("too_many_event_types", sentence));
        }
        check_free(catalog, &made)?;
        Ok((vec![Change::PutEventType(Box::new(made.clone()))], made))
    };
    let made = app.change(caller, decide).await?;
    Ok(tag(&made).on(view::data(StatusCode::CREATED, &view::EventType::of(&made))))
}

/// Change an event type
#[utoipa::path(
    patch, path = "/v1/event-types/{id}", operation_id = "update_event_type", tag = "event types",
    params(("id" = String, Path, description = "The id of the event type."), IfMatch),
    request_body = EventTypeChange,
    responses((status = 200, description = "The event type as it is now.", body = Data<view::EventType>, headers(("ETag"))), Keyed, Stale, Body, Conflict, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let (event_type, schema) = (event_type(&mut fields)?, schema(&mut fields)?);
    let description = fields.mentions("description").then(|| description(&mut fields)).transpose()?;
    fields.finish()?;
    let decide = |catalog: &Catalog| {
        let found = catalog.event_types().get(caller.account, id).ok_or_else(not_found)?;
        if_match.check(&tag(found))?;
        let mut changed = DescribedType::clone(found);
        changed.event_type = event_type.unwrap_or(changed.event_type);
        changed.schema = schema.unwrap_or(changed.schema);
        changed.description = description.unwrap_or(changed.description);
        check_free(catalog, &changed)?;
        Ok::<_, ApiError>((vec![Change::PutEventType(Box::new(changed.clone()))], changed))
    };
    let changed = app.change(caller, decide).await?;
    Ok(tag(&changed).on(view::data(StatusCode::OK, &view::EventType::of(&changed))))
}

/// Delete an event type
///
/// Events of this type are no longer checked.
#[utoipa::path(
    delete, path = "/v1/event-types/{id}", operation_id = "delete_event_type", tag = "event types",
    params(("id" = String, Path, description = "The id of the event type."), IfMatch),
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
        let found = catalog.event_types().get(caller.account, id).ok_or_else(not_found)?;
        if_match.check(&tag(found))?;
        Ok(Change::DeleteEventType(id))
    };
    change(&app, caller, decide).await
}

fn tag(found: &DescribedType) -> EntityTag {
    EntityTag::of(&view::EventType::of(found))
}

/// An account describes each type once, so that there is one answer to what its events must look like.
fn check_free(catalog: &Catalog, wanted: &DescribedType) -> Result<(), ApiError> {
    let known = catalog.event_types().of_type(wanted.account, &wanted.event_type);
    match known.filter(|known| known.id != wanted.id) {
        None => Ok(()),
        Some(known) => {
            let sentence = format!("{} is described already by {}.", known.event_type.as_str(), known.id);
            Err(ApiError::conflict("event_type_exists", sentence))
        }
    }
}

pub(super) fn event_type(fields: &mut Fields) -> Result<Option<EventType>, ApiError> {
    let Some(text) = fields.text("event_type")? else { return Ok(None) };
    EventType::parse(&text).map(Some).map_err(|allowed| ApiError::field("event_type", allowed))
}

pub(super) fn schema(fields: &mut Fields) -> Result<Option<Value>, ApiError> {
    let Some(value) = fields.take("schema") else { return Ok(None) };
    Schema::compile(&value).map_err(|allowed| ApiError::field("schema", allowed))?;
    Ok(Some(value))
}

pub(super) fn description(fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let Some(text) = fields.text("description")? else { return Ok(None) };
    let allowed = format!("must be at most {DESCRIPTION_CHARS_MAX} characters");
    let fits = text.chars().count() <= DESCRIPTION_CHARS_MAX;
    if fits { Ok(Some(text)) } else { Err(ApiError::field("description", allowed)) }
}

fn parse(id: &str) -> Result<EventTypeId, ApiError> {
    EventTypeId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("event type")
}
