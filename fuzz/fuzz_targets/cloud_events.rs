//! No request breaks the reading of CloudEvents, in headers or as a document. The first line is the value of every header
//! that is looked at, the rest is the body; the first byte says which media type it is said to have.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/api/cloud_event.rs"]
mod cloud_event;
#[allow(dead_code, reason = "stands in for more than is used here")]
#[path = "../stand_in/error.rs"]
mod error;

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;

const MEDIA_TYPES: [&str; 3] =
    ["application/cloudevents+json", "application/cloudevents-batch+json", "application/json"];

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (value, body) = rest.split_at(line);
    let mut headers = HeaderMap::new();
    let media_type = MEDIA_TYPES[usize::from(*choice) % MEDIA_TYPES.len()];
    headers.insert("content-type", HeaderValue::from_static(media_type));
    headers.insert("ce-specversion", HeaderValue::from_static("1.0"));
    if let Ok(value) = HeaderValue::from_bytes(value) {
        for name in ["ce-id", "ce-source", "ce-type", "ce-time"] {
            headers.insert(name, value.clone());
        }
    }
    let _ = cloud_event::read(&headers, body);
});
