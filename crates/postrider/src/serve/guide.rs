//! The documentation at `/docs/`: pages of the binary, so that an operator without internet has them too.

use axum::Router;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use serde::Deserialize;

/// The pages have no script and need nothing of other hosts.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A diagram that is opened by itself has its style in it, and nothing else.
const IMAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
}

pub(super) fn router() -> Router {
    Router::new()
        .route("/docs/", get(async || html(StatusCode::OK, postrider_docs::home())))
        .route(
            "/docs/style.css",
            get(async || answer(StatusCode::OK, "text/css", POLICY, postrider_docs::STYLE)),
        )
        .route("/docs/search", get(search))
        .route("/docs/images/{name}", get(image))
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

async fn image(Path(name): Path<String>) -> Response {
    match postrider_docs::image(&name) {
        Some(image) => answer(StatusCode::OK, "image/svg+xml", IMAGE_POLICY, image),
        None => html(StatusCode::NOT_FOUND, postrider_docs::not_found()),
    }
}

fn html(status: StatusCode, page: String) -> Response {
    answer(status, "text/html; charset=utf-8", POLICY, page)
}

fn answer(
    status: StatusCode,
    content_type: &'static str,
    policy: &'static str,
    body: impl IntoResponse,
) -> Response {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, body).into_response()
}
