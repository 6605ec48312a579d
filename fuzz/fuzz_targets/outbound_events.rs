//! No request breaks the reading of an event that is sent, and the payload that is delivered is the one that was given. The
//! first byte says which media type the body is said to have.

#![no_main]

#[path = "../stand_in/api.rs"]
mod api;

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const MEDIA_TYPES: [&str; 3] = ["application/json", "application/cloudevents+json", "text/plain"];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, body)) = bytes.split_first() else { return };
    let media_type = MEDIA_TYPES[usize::from(*choice) % MEDIA_TYPES.len()];
    let headers: HeaderMap =
        [(http::header::CONTENT_TYPE, HeaderValue::from_static(media_type))].into_iter().collect();
    let Some(arrival) = api::event(&headers, body) else { return };
    assert!(arrival.event_type.is_some());
    if media_type == "application/cloudevents+json" {
        assert_eq!(arrival.body, body, "a CloudEvent goes as it came");
        return;
    }
    let given: Value = serde_json::from_slice(body).expect("it was read");
    match &given["payload"] {
        Value::String(text) => assert_eq!(arrival.body, text.as_bytes()),
        value => assert_eq!(serde_json::from_slice::<Value>(&arrival.body).ok().as_ref(), Some(value)),
    }
});
