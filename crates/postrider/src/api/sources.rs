//! `/v1/sources`: where events come in.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::{Fields, Segment, required};
use super::{Shared, change, verification, view};
use crate::serve::bootstrap::new_source;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::SourceId;
use postrider_engine::Catalog;
use postrider_store::{Change, Source};

pub(crate) async fn list(State(app): Shared, caller: Caller) -> Response {
    let sources = app.engine.catalog().sources(caller.account);
    view::data(StatusCode::OK, &sources.iter().map(|source| view::source(source, &app.public_url)).collect())
}

pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let source = app.engine.catalog().source(caller.account, id).cloned().ok_or_else(not_found)?;
    Ok(view::data(StatusCode::OK, &view::source(&source, &app.public_url)))
}

pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let name = required("name", fields.name("name")?)?;
    let source = verification::changed(new_source(&app.engine, caller.account, &name), &mut fields)?;
    fields.finish()?;
    let shown = view::source(&source, &app.public_url);
    app.engine.change(|_| Ok::<_, ApiError>((vec![Change::PutSource(source)], ()))).await?;
    Ok(view::data(StatusCode::CREATED, &shown))
}

pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let decide = |catalog: &Catalog| {
        let found = catalog.source(caller.account, id).ok_or_else(not_found)?;
        let mut source = Source::clone(found);
        source.name = fields.name("name")?.unwrap_or(source.name);
        source.active = fields.switch("active")?.unwrap_or(source.active);
        let source = verification::changed(source, &mut fields)?;
        fields.finish()?;
        let shown = view::source(&source, &app.public_url);
        Ok::<_, ApiError>((vec![Change::PutSource(source)], shown))
    };
    let shown = app.engine.change(decide).await?;
    Ok(view::data(StatusCode::OK, &shown))
}

pub(crate) async fn presets() -> Response {
    view::data(StatusCode::OK, &verification::presets())
}

pub(crate) async fn delete(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let id = parse(&id)?;
    let known = |catalog: &Catalog| catalog.source(caller.account, id).is_some();
    change(&app, |catalog| known(catalog).then_some(Change::DeleteSource(id)).ok_or_else(not_found)).await
}

fn parse(id: &str) -> Result<SourceId, ApiError> {
    SourceId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("source")
}
