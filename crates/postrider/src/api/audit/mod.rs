//! `/v1/audit`: who changed what.

mod facts;
mod note;

pub(crate) use note::By;

use super::auth::Caller;
use super::cursor::{self, List};
use super::error::ApiError;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, Parameters, number, only_parameters};
use super::refusal::{Keyed, Queried, Stored};
use super::view::Data;
use super::view::word::Noun;
use super::{Shared, event_filter, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{ApiKeyId, AuditId};
use postrider_store::AuditQuery;
use std::collections::HashMap;

/// List changes
///
/// Newest first: who changed what and when, with what it was before and what it is since. Secrets are left out. Those of
/// the account; with the admin key and without `Postrider-Account` those of all accounts.
#[utoipa::path(
    get, path = "/v1/audit", operation_id = "list_audit", tag = "audit",
    params(
        ("noun" = Option<Noun>, Query, description = "Of such a thing."),
        ("object_id" = Option<String>, Query, description = "Of the one with this id."),
        ("key_id" = Option<String>, Query, description = "By this key."),
        ("since" = Option<String>, Query, description = "Then or later."),
        ("until" = Option<String>, Query, description = "Before that."),
        ("limit" = Option<usize>, Query, description = "How many at most.", minimum = 1, maximum = 200, example = 25),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before.")
    ),
    responses((status = 200, description = "A page of changes.", body = Data<view::Page<view::AuditRecord>>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let page = app.engine.audit(query(caller, &parameters)?).await?;
    let items = page.items.iter().map(view::AuditRecord::of).collect();
    let next_cursor = page.next.map(|last| cursor::text(List::Audit, [last.as_u64()]));
    Ok(view::data(StatusCode::OK, &view::Page::<view::AuditRecord> { items, total: None, next_cursor }))
}

fn query(caller: Caller, parameters: &HashMap<String, String>) -> Result<AuditQuery, ApiError> {
    only_parameters(parameters, &["noun", "object_id", "key_id", "since", "until", "limit", "cursor"])?;
    let times = event_filter::between(parameters)?;
    let after = parameters.get("cursor").map(|text| cursor::parse(List::Audit, text)).transpose()?;
    Ok(AuditQuery {
        account: if caller.is_admin() { caller.asked_for } else { Some(caller.account) },
        noun: parameters.get("noun").map(|text| noun(text)).transpose()?,
        object: parameters.get("object_id").cloned(),
        key: parameters.get("key_id").map(|text| key(text)).transpose()?,
        since: times.0,
        until: times.1,
        after: after.map(|[last]| AuditId::from_u64(last)),
        limit: number(parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?,
    })
}

fn noun(text: &str) -> Result<String, ApiError> {
    let known = note::NOUNS.iter().find(|noun| **noun == text);
    let allowed = || ApiError::field("noun", format!("must be one of {}", note::NOUNS.join(", ")));
    known.map(|noun| (*noun).to_owned()).ok_or_else(allowed)
}

/// Keys are forgotten, so one that is not there any more may still be asked for.
fn key(text: &str) -> Result<ApiKeyId, ApiError> {
    ApiKeyId::parse(text).map_err(|_| ApiError::field("key_id", "must be the id of a key, key_…"))
}
