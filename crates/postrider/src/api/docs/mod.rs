//! `/docs`: the description as a page to read. All of it is in the binary, and nothing of it is fetched elsewhere.

use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};

/// Only what this gateway itself serves: neither scripts in the page nor anything of other hosts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// This API as a page to read
#[utoipa::path(
    get, path = "/docs", operation_id = "get_docs", tag = "gateway",
    security(()),
    responses((status = 200, description = "A page.", body = String, content_type = "text/html"))
)]
pub(super) async fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("page.html"))
}

/// How that page looks
#[utoipa::path(
    get, path = "/docs/page.css", operation_id = "get_docs_style", tag = "gateway",
    security(()),
    responses((status = 200, description = "A style sheet.", body = String, content_type = "text/css"))
)]
pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("page.css"))
}

/// What fills that page
#[utoipa::path(
    get, path = "/docs/page.js", operation_id = "get_docs_script", tag = "gateway",
    security(()),
    responses((status = 200, description = "A script.", body = String, content_type = "text/javascript"))
)]
pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("page.js"))
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let mut response = Response::new(text.into());
    let headers: [(HeaderName, &'static str); 3] = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}
