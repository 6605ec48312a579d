//! An attempt: one HTTP exchange.

use super::content::{header_map, text_or_base64};
use super::word::{BodyEncoding, ErrorKind, Outcome};
use serde::Serialize;
use serde_json::{Map, Value};
use std::time::Duration;
use utoipa::ToSchema;

/// One HTTP exchange with a destination.
#[derive(Serialize, ToSchema)]
pub(crate) struct Attempt {
    #[schema(example = "att_01hz3k8q2v4xw")]
    id: String,
    event_id: String,
    delivery_id: String,
    destination_id: String,
    /// From 1.
    attempt_number: u32,
    #[schema(format = DateTime)]
    started_at: String,
    #[schema(format = DateTime)]
    finished_at: String,
    /// How long it took; `timing.total_ms` is the same to the microsecond.
    latency_ms: u64,
    timing: Timing,
    #[schema(value_type = Outcome)]
    outcome: &'static str,
    #[schema(value_type = HashMap<String, String>)]
    request_headers: Map<String, Value>,
    /// Absent when there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    response_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<HashMap<String, String>>)]
    response_headers: Option<Map<String, Value>>,
    /// Up to 64 KiB of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    response_body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BodyEncoding>)]
    response_body_encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<ErrorKind>)]
    error_kind: Option<&'static str>,
}

/// Where the time went. A step that there was none of is `null`.
#[derive(Serialize, ToSchema)]
struct Timing {
    #[schema(required = true)]
    dns_ms: Option<f64>,
    #[schema(required = true)]
    connect_ms: Option<f64>,
    #[schema(required = true)]
    tls_ms: Option<f64>,
    #[schema(required = true)]
    first_byte_ms: Option<f64>,
    total_ms: f64,
}

impl Attempt {
    pub(crate) fn of(attempt: &postrider_store::Attempt) -> Self {
        let timing = &attempt.timing;
        let answered = attempt.status.map(|_| text_or_base64(&attempt.response_body));
        let (response_body, response_body_encoding) = answered.unzip();
        let problem = attempt.problem.as_ref();
        Attempt {
            id: attempt.id.to_string(),
            event_id: attempt.event.to_string(),
            delivery_id: attempt.delivery.to_string(),
            destination_id: attempt.destination.to_string(),
            attempt_number: attempt.number,
            started_at: attempt.started_at.to_string(),
            finished_at: attempt.started_at.after(timing.total).to_string(),
            latency_ms: whole_milliseconds(timing.total),
            timing: Timing {
                dns_ms: timing.dns.map(milliseconds),
                connect_ms: timing.connect.map(milliseconds),
                tls_ms: timing.tls.map(milliseconds),
                first_byte_ms: timing.first_byte.map(milliseconds),
                total_ms: milliseconds(timing.total),
            },
            outcome: attempt.outcome.as_str(),
            request_headers: header_map(&attempt.request_headers),
            response_status: attempt.status,
            response_headers: attempt.status.map(|_| header_map(&attempt.response_headers)),
            response_body,
            response_body_encoding,
            error_message: problem.map(|problem| problem.sentence.clone()),
            error_kind: problem.map(|problem| problem.kind.as_str()),
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// Clients of GetHook's wire read whole numbers, and refuse an answer with another in their place.
pub(crate) fn whole_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
