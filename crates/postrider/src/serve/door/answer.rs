//! What a client of the door is told, written as one text.

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use std::cell::RefCell;
use std::io::Write;
use std::time::{Duration, SystemTime};

/// Whether the connection stays open for the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Next,
    Close,
}

/// JSON, which is what nearly all are told.
pub(super) fn json(status: StatusCode, text: &str, then: Then) -> Vec<u8> {
    let mut out = begin(status, text.len(), then);
    out.extend_from_slice(b"content-type: application/json\r\n\r\n");
    out.extend_from_slice(text.as_bytes());
    out
}

/// Any other answer, whole.
pub(super) async fn other(answer: Response, then: Then) -> Vec<u8> {
    let (head, body) = answer.into_parts();
    // Refusals are in memory, so there is nothing that could go wrong in reading one.
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut out = begin(head.status, body.len(), then);
    write_headers(&mut out, &head.headers);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&body);
    out
}

fn begin(status: StatusCode, body_bytes: usize, then: Then) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + body_bytes);
    let reason = status.canonical_reason().unwrap_or_default();
    let written = write!(out, "HTTP/1.1 {} {reason}\r\ncontent-length: {body_bytes}\r\n", status.as_str());
    written.expect("memory takes what is written");
    out.extend_from_slice(b"date: ");
    write_date(&mut out);
    out.extend_from_slice(if then == Then::Close { b"\r\nconnection: close\r\n" } else { b"\r\n" });
    out
}

fn write_headers(out: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
}

/// The second that was written last, and how.
type Written = (u64, String);

/// The date of now. It is the same text for a second, and writing it anew would cost as much as reading a head.
fn write_date(out: &mut Vec<u8>) {
    thread_local! {
        static LAST: RefCell<Written> = const { RefCell::new((0, String::new())) };
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    LAST.with_borrow_mut(|(second, text)| {
        if *second != now {
            *text = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(now));
            *second = now;
        }
        out.extend_from_slice(text.as_bytes());
    });
}
