//! `/v1/routes`: which events of which source go to which destination.

use super::account_room;
use super::auth::Caller;
use super::cursor::List as Listed;
use super::destinations::policy;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::{Parameters, only_parameters};
use super::fields::{Fields, Segment, legal_expression, required};
use super::paging::PageParameters;
use super::refusal::{Body, Conflict, Keyed, Queried, Stale, Stored};
use super::request::{NewRoute, RouteChange};
use super::view::{Data, List};
use super::{Shared, change, paging, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::delivery::Priority;
use postrider_core::id::{DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::PriorityRule;
use postrider_engine::{Catalog, Wants};
use postrider_store::codec::{BadRule, rules_from_json};
use postrider_store::{Change, Route};

/// List routes
#[utoipa::path(
    get, path = "/v1/routes", operation_id = "list_routes", tag = "routes",
    params(
        ("destination_id" = Option<String>, Query, description = "Those that lead to this destination."),
        PageParameters
    ),
    responses((status = 200, description = "The routes of the account.", body = List<view::Route>), Keyed, Queried)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(mut parameters): Parameters,
) -> Result<Response, ApiError> {
    only_parameters(&parameters, &["destination_id", "limit", "cursor"])?;
    let to = parameters.remove("destination_id");
    let to = to.map(|text| DestinationId::parse(&text).map_err(|_| not_a_destination())).transpose()?;
    let catalog = app.engine.catalog();
    let mut routes = catalog.routes(caller.account);
    routes.retain(|route| to.is_none_or(|to| route.destination == to));
    let page = paging::page(&parameters, Listed::Routes, routes, |route| route.id.as_u64())?;
    Ok(page.answer(|route| view::Route::seen(route, &catalog)))
}

/// Get a route
#[utoipa::path(
    get, path = "/v1/routes/{id}", operation_id = "get_route", tag = "routes",
    params(("id" = String, Path, description = "The id of the route."), IfNoneMatch),
    responses((status = 200, description = "The route.", body = Data<view::Route>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let catalog = app.engine.catalog();
    let route = catalog.route(caller.account, id).ok_or_else(not_found)?;
    Ok(if_none_match.answer(&tag(route), &view::Route::seen(route, &catalog)))
}

/// Make a route
#[utoipa::path(
    post, path = "/v1/routes", operation_id = "create_route", tag = "routes",
    request_body = NewRoute,
    responses((status = 201, description = "The route.", body = Data<view::Route>, headers(("ETag"))), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = RouteId::from_u64(app.engine.next_id());
    let created_at = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let to = required("destination_id", fields.text("destination_id")?)?;
        let to = known_destination(catalog, caller, &to)?;
        let made = apply(Route::new(id, caller.account, to, created_at), catalog, caller, &mut fields)?;
        fields.finish()?;
        account_room::for_route(catalog, caller)?;
        Ok::<_, ApiError>((vec![Change::PutRoute(made.clone())], made))
    };
    let made = app.change(caller, decide).await?;
    let shown = view::Route::seen(&made, &app.engine.catalog());
    Ok(tag(&made).on(view::data(StatusCode::CREATED, &shown)))
}

/// Change a route
#[utoipa::path(
    patch, path = "/v1/routes/{id}", operation_id = "update_route", tag = "routes",
    params(("id" = String, Path, description = "The id of the route."), IfMatch),
    request_body = RouteChange,
    responses((status = 200, description = "The route as it is now.", body = Data<view::Route>, headers(("ETag"))), Keyed, Stale, Body, Stored)
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
        let mut found = (**catalog.route(caller.account, id).ok_or_else(not_found)?).clone();
        if_match.check(&tag(&found))?;
        if let Some(to) = fields.text("destination_id")? {
            found.destination = known_destination(catalog, caller, &to)?;
        }
        let changed = apply(found, catalog, caller, &mut fields)?;
        fields.finish()?;
        Ok::<_, ApiError>((vec![Change::PutRoute(changed.clone())], changed))
    };
    let changed = app.change(caller, decide).await?;
    let shown = view::Route::seen(&changed, &app.engine.catalog());
    Ok(tag(&changed).on(view::data(StatusCode::OK, &shown)))
}

/// The id that a route has in the system that it comes from is taken and not kept. One of ours must be that of this route.
fn check_brought_id(into: &Route, catalog: &Catalog, fields: &mut Fields) -> Result<(), ApiError> {
    let Some(brought) = fields.name("route_id")? else { return Ok(()) };
    let is_new = catalog.route(into.account, into.id).is_none();
    let named = RouteId::parse(&brought).ok().and_then(|id| catalog.route(into.account, id));
    match named {
        None if is_new => Ok(()),
        Some(named) if named.id == into.id => Ok(()),
        Some(_) if is_new => Err(ApiError::field(
            "route_id",
            "is that of a route that is there; change it by PATCH /v1/routes/{id}",
        )),
        _ => Err(ApiError::field("route_id", "must be the id of this route, or absent")),
    }
}

/// The fields that making and changing share. `null` takes an optional one away.
pub(super) fn apply(
    mut into: Route,
    catalog: &Catalog,
    caller: Caller,
    fields: &mut Fields,
) -> Result<Route, ApiError> {
    check_brought_id(&into, catalog, fields)?;
    if fields.mentions("source_id") {
        let named = fields.text("source_id")?;
        into.source = named.map(|text| known_source(catalog, caller, &text)).transpose()?;
    }
    if let Some(text) = fields.text("event_type_pattern")? {
        let parsed = EventPattern::parse(&text);
        into.pattern = parsed.map_err(|allowed| ApiError::field("event_type_pattern", allowed))?;
    }
    if fields.mentions("filter") {
        into.filter = expression(fields, "filter", Wants::Bool)?;
    }
    if fields.mentions("transform") {
        into.transform = expression(fields, "transform", Wants::Message)?;
    }
    let by_number = |number| Priority::from_number(number).ok_or("must be a whole number from 1 to 4");
    into.priority = fields.number("priority", by_number)?.unwrap_or(into.priority);
    if fields.mentions("priority_rules") {
        into.priority_rules = priority_rules(fields)?;
    }
    if fields.mentions("retry_policy") {
        let known = into.retry_policy.as_ref();
        into.retry_policy =
            if fields.is_empty_object("retry_policy") { None } else { policy(fields, known)? };
    }
    into.active = fields.switch("active")?.unwrap_or(into.active);
    Ok(into)
}

fn expression(fields: &mut Fields, field: &'static str, wants: Wants) -> Result<Option<String>, ApiError> {
    let Some(text) = fields.text(field)? else { return Ok(None) };
    legal_expression(field, &text, wants)?;
    Ok(Some(text))
}

fn priority_rules(fields: &mut Fields) -> Result<Vec<PriorityRule>, ApiError> {
    let Some(value) = fields.take("priority_rules") else { return Ok(Vec::new()) };
    let refused = |bad: BadRule| match bad.is_missing {
        true => ApiError::missing(&bad.field),
        false => ApiError::field(&bad.field, bad.allowed),
    };
    let rules = rules_from_json(&value).map_err(refused)?;
    for (index, rule) in rules.iter().enumerate() {
        match rule {
            PriorityRule::When { when, .. } => {
                legal_expression(&format!("priority_rules[{index}].when"), when, Wants::Bool)?;
            }
            PriorityRule::Value { value } => {
                legal_expression(&format!("priority_rules[{index}].value"), value, Wants::Priority)?;
            }
            PriorityRule::Type { .. }
            | PriorityRule::Prefix { .. }
            | PriorityRule::Suffix { .. }
            | PriorityRule::Header { .. } => {}
        }
    }
    Ok(rules)
}

/// Delete a route
///
/// What it has led to already is still delivered.
#[utoipa::path(
    delete, path = "/v1/routes/{id}", operation_id = "delete_route", tag = "routes",
    params(("id" = String, Path, description = "The id of the route."), IfMatch),
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
        let found = catalog.route(caller.account, id).ok_or_else(not_found)?;
        if_match.check(&tag(found))?;
        Ok(Change::DeleteRoute(id))
    };
    change(&app, caller, decide).await
}

pub(super) fn known_destination(
    catalog: &Catalog,
    caller: Caller,
    text: &str,
) -> Result<DestinationId, ApiError> {
    let found =
        DestinationId::parse(text).ok().filter(|id| catalog.destination(caller.account, *id).is_some());
    found.ok_or_else(not_a_destination)
}

fn not_a_destination() -> ApiError {
    ApiError::field("destination_id", "must be the id of a destination, dst_…")
}

pub(super) fn known_source(catalog: &Catalog, caller: Caller, text: &str) -> Result<SourceId, ApiError> {
    let found = SourceId::parse(text).ok().filter(|id| catalog.source(caller.account, *id).is_some());
    found.ok_or_else(|| ApiError::field("source_id", "must be the id of a source, src_…"))
}

/// What the filter counts changes by itself and is not in the tag.
fn tag(route: &Route) -> EntityTag {
    EntityTag::of(&view::Route::of(route))
}

fn parse(id: &str) -> Result<RouteId, ApiError> {
    RouteId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("route")
}
