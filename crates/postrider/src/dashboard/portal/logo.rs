//! The account's logo, as a picture of ours: pages show none from other hosts.

use super::frame::Frame;
use super::guest::Guest;
use crate::api::Logo;
use crate::dashboard::Shared;
use crate::dashboard::answer::file;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderValue, StatusCode};

/// Opened by itself an SVG is a page of this gateway, so nothing in it runs and it belongs to nobody.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
);

pub(super) async fn picture(State(desk): Shared, Guest(session): Guest) -> Response {
    let frame = Frame::of(&desk.api, &session, "").await.ok();
    match frame.and_then(|frame| frame.brand.logo()) {
        Some(Logo { media_type, bytes }) => {
            let mut response = file(media_type, String::new());
            *response.body_mut() = bytes.into();
            response.headers_mut().insert(CONTENT_SECURITY_POLICY, POLICY);
            response
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
