//! Stands in for the API around the modules that read events, which are taken as they are.

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/api/cloud_event.rs"]
mod cloud_event;
#[path = "error.rs"]
mod error;
#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/api/fields.rs"]
mod fields;
#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/api/outbound/form.rs"]
mod form;
#[path = "../../crates/postrider/src/api/send_window.rs"]
mod send_window;

use bytes::Bytes;
use http::HeaderMap;
use postrider_core::time::Timestamp;
use postrider_engine::Arrival;

/// What handlers share; there are none here.
#[allow(dead_code, reason = "handlers are what would make one")]
struct App;

mod body {
    use super::error::ApiError;
    use bytes::Bytes;
    use http::HeaderMap;

    pub(crate) async fn read(_: &HeaderMap, _: axum::body::Body, _: usize) -> Result<Bytes, ApiError> {
        Ok(Bytes::new())
    }
}

/// An event of a request with this body, if it is one.
pub(crate) fn event(headers: &HeaderMap, body: &[u8]) -> Option<Arrival> {
    let now = Timestamp::from_unix_ms(1_768_464_000_000);
    form::of_request(headers, Bytes::copy_from_slice(body), now).ok()
}
