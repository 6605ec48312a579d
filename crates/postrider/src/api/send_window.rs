//! When an event may be sent: `deliver_at` and `ttl_seconds`, or the headers that say the same at ingest.

use super::error::ApiError;
use super::fields::Fields;
use http::{HeaderMap, HeaderName};
use postrider_core::limits::{DELIVER_AHEAD_MAX, TTL_MAX};
use postrider_core::time::Timestamp;
use postrider_store::SendWindow;
use std::time::Duration;

static DELIVER_AT_HEADER: HeaderName = HeaderName::from_static("postrider-deliver-at");
static TTL_HEADER: HeaderName = HeaderName::from_static("postrider-ttl");

/// From the headers of an event.
pub(crate) fn of_headers(
    headers: &HeaderMap,
    now: impl FnOnce() -> Timestamp,
) -> Result<SendWindow, ApiError> {
    if ![&DELIVER_AT_HEADER, &TTL_HEADER].into_iter().any(|name| headers.contains_key(name)) {
        return Ok(SendWindow::default());
    }
    let now = now();
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let deliver_at = text(&DELIVER_AT_HEADER).map(|text| deliver_at("Postrider-Deliver-At", text, now));
    let ttl = text(&TTL_HEADER).map(|text| ttl("Postrider-Ttl", text.parse().ok()));
    Ok(window(deliver_at.transpose()?, ttl.transpose()?, now))
}

/// From the fields of an event.
pub(crate) fn of_fields(fields: &mut Fields, now: Timestamp) -> Result<SendWindow, ApiError> {
    let at = fields.text("deliver_at")?.map(|text| deliver_at("deliver_at", &text, now));
    let ttl = fields.take("ttl_seconds").map(|value| ttl("ttl_seconds", value.as_u64()));
    Ok(window(at.transpose()?, ttl.transpose()?, now))
}

fn deliver_at(field: &str, text: &str, now: Timestamp) -> Result<Timestamp, ApiError> {
    let days = DELIVER_AHEAD_MAX.as_secs() / 86_400;
    let at = Timestamp::parse_rfc3339(text).filter(|at| at.since(now) <= DELIVER_AHEAD_MAX);
    let allowed =
        format!("must be a time in RFC 3339, such as 2026-01-31T12:00:00Z, and at most {days} days ahead");
    at.ok_or_else(|| ApiError::field(field, allowed))
}

fn ttl(field: &str, seconds: Option<u64>) -> Result<Duration, ApiError> {
    let most = TTL_MAX.as_secs();
    let legal = seconds.filter(|seconds| (1..=most).contains(seconds)).map(Duration::from_secs);
    legal.ok_or_else(|| ApiError::field(field, format!("must be a whole number from 1 to {most}")))
}

/// A time to live counts from when the event is due: one that is delayed is not used up by waiting for that.
fn window(deliver_at: Option<Timestamp>, ttl: Option<Duration>, now: Timestamp) -> SendWindow {
    // What is past is due at once, as if nothing had been said.
    let deliver_at = deliver_at.filter(|at| *at > now);
    let expires_at = ttl.map(|ttl| deliver_at.unwrap_or(now).after(ttl));
    SendWindow { deliver_at, expires_at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

    fn fields(value: &serde_json::Value) -> Result<SendWindow, String> {
        let mut fields = Fields::parse(value.to_string().as_bytes()).unwrap();
        of_fields(&mut fields, NOW).map_err(|refused| format!("{refused:?}"))
    }

    #[test]
    fn headers_and_fields_say_the_same() {
        let at = NOW.after(Duration::from_secs(3600));
        let mut headers = HeaderMap::new();
        headers.insert("postrider-deliver-at", HeaderValue::from_str(&at.to_string()).unwrap());
        headers.insert("postrider-ttl", HeaderValue::from_static("60"));
        let expected =
            SendWindow { deliver_at: Some(at), expires_at: Some(at.after(Duration::from_secs(60))) };
        assert_eq!(of_headers(&headers, || NOW).unwrap(), expected);
        assert_eq!(fields(&json!({ "deliver_at": at.to_string(), "ttl_seconds": 60 })).unwrap(), expected);
        assert_eq!(of_headers(&HeaderMap::new(), || NOW).unwrap(), SendWindow::default());
    }

    #[test]
    fn what_is_past_is_due_at_once() {
        let window = fields(&json!({ "deliver_at": "2020-01-01T00:00:00Z", "ttl_seconds": 5 })).unwrap();
        assert_eq!(window.deliver_at, None);
        assert_eq!(window.expires_at, Some(NOW.after(Duration::from_secs(5))));
    }

    #[test]
    fn what_is_too_far_or_no_time_is_refused() {
        let far = NOW.after(DELIVER_AHEAD_MAX + Duration::from_millis(1)).to_string();
        let last = NOW.after(DELIVER_AHEAD_MAX).to_string();
        assert!(fields(&json!({ "deliver_at": last, "ttl_seconds": TTL_MAX.as_secs() })).is_ok());
        for bad in [
            json!({ "deliver_at": far }),
            json!({ "deliver_at": "tomorrow" }),
            json!({ "deliver_at": 5 }),
            json!({ "ttl_seconds": 0 }),
            json!({ "ttl_seconds": -1 }),
            json!({ "ttl_seconds": 1.5 }),
            json!({ "ttl_seconds": "60" }),
            json!({ "ttl_seconds": TTL_MAX.as_secs() + 1 }),
        ] {
            assert!(fields(&bad).is_err(), "{bad}");
        }
    }
}
