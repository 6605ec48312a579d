//! `/v1/routes`: which events of which source go to which destination.

use super::auth::Caller;
use super::destinations::policy;
use super::error::ApiError;
use super::fields::{Fields, Segment, required};
use super::{Shared, change, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::delivery::Priority;
use postrider_core::id::{DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_engine::Catalog;
use postrider_store::{Change, Route};

pub(crate) async fn list(State(app): Shared, caller: Caller) -> Response {
    let routes = app.engine.catalog().routes(caller.account);
    view::data(StatusCode::OK, &routes.iter().map(|route| view::route(route)).collect())
}

pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let route = app.engine.catalog().route(caller.account, id).cloned().ok_or_else(not_found)?;
    Ok(view::data(StatusCode::OK, &view::route(&route)))
}

pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let destination = required("destination_id", fields.text("destination_id")?)?;
    let source = fields.text("source_id")?;
    let pattern = match fields.text("event_type_pattern")? {
        None => EventPattern::everything(),
        Some(text) => {
            EventPattern::parse(&text).map_err(|allowed| ApiError::field("event_type_pattern", allowed))?
        }
    };
    let by_number = |number| Priority::from_number(number).ok_or("must be a whole number from 1 to 4");
    let priority = fields.number("priority", by_number)?.unwrap_or(Priority::Normal);
    let retry_policy = policy(&mut fields)?;
    let active = fields.switch("active")?.unwrap_or(true);
    fields.finish()?;
    let id = RouteId::from_u64(app.engine.next_id());
    let created_at = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let destination = known_destination(catalog, caller, &destination)?;
        let source = source.as_deref().map(|text| known_source(catalog, caller, text)).transpose()?;
        let account = caller.account;
        let route =
            Route { id, account, source, destination, pattern, priority, retry_policy, active, created_at };
        Ok::<_, ApiError>((vec![Change::PutRoute(route.clone())], route))
    };
    let made = app.engine.change(decide).await?;
    Ok(view::data(StatusCode::CREATED, &view::route(&made)))
}

pub(crate) async fn delete(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let id = parse(&id)?;
    let known = |catalog: &Catalog| catalog.route(caller.account, id).is_some();
    change(&app, |catalog| known(catalog).then_some(Change::DeleteRoute(id)).ok_or_else(not_found)).await
}

fn known_destination(catalog: &Catalog, caller: Caller, text: &str) -> Result<DestinationId, ApiError> {
    let found =
        DestinationId::parse(text).ok().filter(|id| catalog.destination(caller.account, *id).is_some());
    found.ok_or_else(|| ApiError::field("destination_id", "must be the id of a destination, dst_…"))
}

fn known_source(catalog: &Catalog, caller: Caller, text: &str) -> Result<SourceId, ApiError> {
    let found = SourceId::parse(text).ok().filter(|id| catalog.source(caller.account, *id).is_some());
    found.ok_or_else(|| ApiError::field("source_id", "must be the id of a source, src_…"))
}

fn parse(id: &str) -> Result<RouteId, ApiError> {
    RouteId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("route")
}
