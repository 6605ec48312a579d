//! `/healthz` and `/readyz`: is the process alive, and can it take events.

use super::{Shared, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;

pub(crate) async fn healthz() -> Response {
    flat(StatusCode::OK, "ok", None)
}

pub(crate) async fn readyz(State(app): Shared) -> Response {
    match app.engine.ready() {
        Ok(()) => flat(StatusCode::OK, "ready", None),
        Err(error) => flat(StatusCode::SERVICE_UNAVAILABLE, "not ready", Some(error.to_string())),
    }
}

/// A flat map of texts, as the wire has it.
fn flat(status: StatusCode, word: &str, reason: Option<String>) -> Response {
    let mut map = json!({ "status": word });
    if let Some(reason) = reason {
        map["reason"] = reason.into();
    }
    view::json_text(status, map.to_string())
}
