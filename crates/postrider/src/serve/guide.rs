//! The documentation at `/docs/`: pages of the binary, so that an operator without internet has them too.

use axum::Router;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use serde::Deserialize;

/// The pages have no script and need nothing of other hosts.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
}

pub(super) fn router() -> Router {
    Router::new()
        .route("/docs/", get(async || html(StatusCode::OK, postrider_docs::home())))
        .route("/docs/style.css", get(async || answer(StatusCode::OK, "text/css", postrider_docs::STYLE)))
        .route("/docs/search", get(search))
        .route("/docs/{page}", get(page))
}

async fn search(Query(search): Query<Search>) -> Response {
    html(StatusCode::OK, postrider_docs::search(&search.q))
}

async fn page(Path(slug): Path<String>) -> Response {
    match postrider_docs::page(&slug) {
        Some(page) => html(StatusCode::OK, page),
        None => html(StatusCode::NOT_FOUND, postrider_docs::not_found()),
    }
}

fn html(status: StatusCode, page: String) -> Response {
    answer(status, "text/html; charset=utf-8", page)
}

fn answer(status: StatusCode, content_type: &'static str, body: impl IntoResponse) -> Response {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, body).into_response()
}
