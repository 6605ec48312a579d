//! What the routes would make of an event.

use super::content::{header_map, text_or_base64};
use super::word::{BodyEncoding, RouteRefusal};
use postrider_core::id::RouteId;
use postrider_engine::send::Preview;
use postrider_engine::{Judged, Mismatch, Taking, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What would become of an event.
#[derive(Serialize, ToSchema)]
pub(crate) struct RouteTest {
    /// Why the event would be refused, when its type has a schema that it does not meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) schema_error: Option<SchemaError>,
    /// In the order in which routes are asked.
    pub(crate) routes: Vec<RouteJudgement>,
}

/// Where a body is not what its schema asks for.
#[derive(Serialize, ToSchema)]
pub(crate) struct SchemaError {
    /// A JSON pointer into the body.
    field: String,
    error: String,
}

/// What one route would make of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct RouteJudgement {
    /// Absent for a route that is not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    route_id: Option<String>,
    destination_id: String,
    /// Whether it takes the event.
    matches: bool,
    /// Why it does not take the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RouteRefusal>)]
    reason: Option<&'static str>,
    /// What fails: the filter, or, if the event is taken, what would be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<String>,
    /// The route before it that takes the event to the same destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    routed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, maximum = 4)]
    priority: Option<u64>,
    /// Which of the `priority_rules` gave it, from 0; absent when it is the route's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    priority_rule: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ordering_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    request: Option<SampleRequest>,
}

/// The first attempt as it would be.
#[derive(Serialize, ToSchema)]
struct SampleRequest {
    url: String,
    /// Secrets and signatures are redacted.
    #[schema(value_type = HashMap<String, String>)]
    headers: Map<String, Value>,
    /// At most 64 KiB of it, and 8 MiB over all routes.
    body: String,
    #[schema(value_type = BodyEncoding)]
    body_encoding: &'static str,
    /// Its whole length.
    body_bytes: usize,
}

impl SchemaError {
    pub(crate) fn of(mismatch: Mismatch) -> Self {
        SchemaError { field: mismatch.pointer, error: format!("The body is refused: {}.", mismatch.reason) }
    }
}

impl RouteJudgement {
    /// `id` is that of the route, if it is made.
    pub(crate) fn of(judged: Judged, id: Option<RouteId>) -> Self {
        let mut judgement = RouteJudgement {
            route_id: id.map(|id| id.to_string()),
            destination_id: judged.route.destination.to_string(),
            matches: false,
            reason: None,
            error: None,
            routed_by: None,
            priority: None,
            priority_rule: None,
            ordering_key: None,
            request: None,
        };
        judgement.reason = match judged.verdict {
            Verdict::Inactive => Some("inactive"),
            Verdict::OtherSource => Some("other_source"),
            Verdict::OtherType => Some("other_type"),
            Verdict::FilterFalse => Some("filter_false"),
            Verdict::FilterFailed(failure) => {
                judgement.error = Some(format!("The filter fails: {failure}."));
                Some("filter_error")
            }
            Verdict::AlreadyOwed(by) => {
                judgement.routed_by = Some(by.to_string());
                Some("already_routed")
            }
            Verdict::Takes(taking) => {
                judgement.take(*taking);
                None
            }
        };
        judgement
    }

    fn take(&mut self, taking: Taking) {
        self.matches = true;
        self.priority = Some(taking.priority.number().into());
        self.priority_rule = taking.rule;
        self.ordering_key = taking.ordering_key;
        match taking.request {
            Ok(preview) => self.request = Some(SampleRequest::of(&preview)),
            Err(why) => self.error = Some(format!("Nothing can be sent: {why}.")),
        }
    }
}

impl SampleRequest {
    fn of(preview: &Preview) -> Self {
        let (body, body_encoding) = text_or_base64(&preview.body);
        SampleRequest {
            url: preview.url.clone(),
            headers: header_map(&preview.headers),
            body,
            body_encoding,
            body_bytes: preview.body_bytes,
        }
    }
}
