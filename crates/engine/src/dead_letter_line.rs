//! A dead letter as one line of JSON, in waford's form: `{event_id, payload, destination, retry_count, last_error}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_core::id::EventId;
use serde::de::IgnoredAny;

/// What a line tells.
#[derive(Clone, Copy, Debug)]
pub struct DeadLetterLine<'a> {
    /// Which event.
    pub event: EventId,
    /// Its body.
    pub body: &'a [u8],
    /// The URL it was owed to; `None` when the destination was deleted.
    pub destination: Option<&'a str>,
    /// Attempts made.
    pub attempts: u32,
    /// What was wrong last.
    pub last_error: Option<&'a str>,
}

impl DeadLetterLine<'_> {
    /// The line, without its end, and in which form the payload is in it.
    pub fn text(&self) -> (String, &'static str) {
        let (payload, encoding) = payload(self.body);
        // Retries are the attempts after the first.
        let retries = self.attempts.saturating_sub(1);
        let text = format!(
            r#"{{"event_id":"{}","payload":{payload},"destination":{},"retry_count":{retries},"last_error":{}}}"#,
            self.event,
            serde_json::Value::from(self.destination),
            serde_json::Value::from(self.last_error),
        );
        (text, encoding)
    }
}

/// JSON as it came, so that no number loses a digit; text as a string; other bytes as base64.
fn payload(body: &[u8]) -> (String, &'static str) {
    let Ok(text) = std::str::from_utf8(body) else {
        return (format!("\"{}\"", STANDARD.encode(body)), "base64");
    };
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        // Outside of its strings JSON may be broken into lines, inside it cannot be: a line stays a line.
        return (text.trim().replace(['\n', '\r'], " "), "json");
    }
    (serde_json::Value::from(text).to_string(), "utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], payload: &str, encoding: &str) {
        let event = EventId::from_u64(1);
        let line =
            DeadLetterLine { event, body, destination: None, attempts: 4, last_error: Some("a \"b\"\n") };
        let expected = format!(
            r#"{{"event_id":"evt_0000000000001","payload":{payload},"destination":null,"retry_count":3,"last_error":"a \"b\"\n"}}"#
        );
        let (text, said) = line.text();
        assert_eq!((text.as_str(), said), (expected.as_str(), encoding));
        assert!(serde_json::from_str::<serde_json::Value>(&expected).is_ok(), "{expected}");
        assert!(!expected.contains('\n'));
    }

    #[test]
    fn a_payload_is_json_as_it_came_or_a_string() {
        check(b"{\"a\": 12345678901234567890123}", "{\"a\": 12345678901234567890123}", "json");
        check(b"{\r\n  \"a\": \"x\\ny\"\n}\n", "{    \"a\": \"x\\ny\" }", "json");
        check(b"null", "null", "json");
        check(b"", "\"\"", "utf8");
        check(b"a=1&b=\"2\"\n", "\"a=1&b=\\\"2\\\"\\n\"", "utf8");
        check(b"{\"a\":", "\"{\\\"a\\\":\"", "utf8");
        check(b"\xff\xfe", "\"//4=\"", "base64");
    }
}
