//! What objects look like on the wire. Secrets are not in here, so they cannot be shown.
//!
//! What may be absent is absent and never `null`; what may be `null` is always there.

mod account;
mod api_key;
mod attempt;
mod audit;
pub(crate) mod cluster;
mod content;
mod dead_letter;
mod dead_letter_group;
mod delivery;
mod destination;
mod destination_health;
mod event;
mod event_type;
mod health;
mod job;
mod key;
mod page;
mod portal;
mod preset;
mod provider_preset;
mod queue;
mod reject;
mod replay;
mod route;
mod route_test;
mod series;
mod settings;
mod source;
mod stats;
pub(crate) mod word;

pub(crate) use account::{Account, AccountWithKey};
pub(crate) use api_key::ApiKey;
pub(crate) use attempt::{Attempt, whole_milliseconds};
pub(crate) use audit::AuditRecord;
pub(crate) use content::header_map;
pub(crate) use dead_letter::{DeadLetter, Discarded, Requeued};
pub(crate) use dead_letter_group::{DeadLetterGroup, DeadLetterGroups};
pub(crate) use delivery::{DeliveryDetail, DeliveryItem, DeliveryPage};
pub(crate) use destination::Destination;
pub(crate) use destination_health::DestinationHealth;
pub(crate) use event::{Event, EventDetail, EventPage, EventReplay, Ingested};
pub(crate) use event_type::EventType;
pub(crate) use health::Health;
pub(crate) use job::{Job, Task};
pub(crate) use key::{NewSecret, PublicKey};
pub(crate) use page::Page;
pub(crate) use portal::{Brand, PortalSession};
pub(crate) use preset::DestinationPreset;
pub(crate) use provider_preset::ProviderPreset;
pub(crate) use queue::{Queue, certificates, node_shortages};
pub(crate) use reject::Reject;
pub(crate) use replay::{DryRun, Replay};
pub(crate) use route::Route;
pub(crate) use route_test::{RouteJudgement, RouteTest, SchemaError};
pub(crate) use series::{Percentiles, Series};
pub(crate) use settings::Settings;
pub(crate) use source::Source;
pub(crate) use stats::{PlatformStats, Stats};

use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use utoipa::ToSchema;

/// The envelope of every success.
#[derive(Serialize, ToSchema)]
pub(crate) struct Data<T> {
    data: T,
}

/// The envelope of a list, with the place where its next page begins.
#[derive(Serialize, ToSchema)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    /// The `cursor` of the next page, when a page was asked for that is not the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) next_cursor: Option<String>,
}

/// A success: the value in its envelope.
pub(crate) fn data<T: Serialize>(status: StatusCode, value: &T) -> Response {
    json(status, &Data { data: value })
}

/// JSON without the envelope.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let text = serde_json::to_string(value).expect("views are maps with texts for keys");
    json_text(status, text)
}

/// JSON that is written already.
pub(crate) fn json_text(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
