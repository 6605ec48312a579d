//! The kinds of object that a file can hold, and what the API calls their fields.

use crate::api::document;
use serde_json::Value;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    EventType,
    Destination,
    Source,
    Route,
    ApiKey,
}

/// In the order in which a file is written.
pub(super) const KINDS: [Kind; 5] =
    [Kind::Source, Kind::Destination, Kind::Route, Kind::EventType, Kind::ApiKey];

impl Kind {
    /// Its list in a file.
    pub(super) const fn section(self) -> &'static str {
        match self {
            Kind::EventType => "event_types",
            Kind::Destination => "destinations",
            Kind::Source => "sources",
            Kind::Route => "routes",
            Kind::ApiKey => "api_keys",
        }
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Kind::EventType => "event type",
            Kind::Destination => "destination",
            Kind::Source => "source",
            Kind::Route => "route",
            Kind::ApiKey => "API key",
        }
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Kind::EventType => "/v1/event-types",
            Kind::Destination => "/v1/destinations",
            Kind::Source => "/v1/sources",
            Kind::Route => "/v1/routes",
            Kind::ApiKey => "/v1/api-keys",
        }
    }

    /// The field that names one; a route is named by three of them.
    pub(super) const fn name_field(self) -> Option<&'static str> {
        match self {
            Kind::EventType => Some("event_type"),
            Kind::Destination | Kind::Source | Kind::ApiKey => Some("name"),
            Kind::Route => None,
        }
    }

    /// The fields that a file may give: those of the API's requests, with names in place of ids.
    pub(super) fn fields(self) -> &'static [String] {
        static FIELDS: LazyLock<Vec<(Kind, Vec<String>)>> = LazyLock::new(described);
        let (_, fields) = FIELDS.iter().find(|(kind, _)| *kind == self).expect("every kind is described");
        fields
    }

    const fn requests(self) -> [&'static str; 2] {
        match self {
            Kind::EventType => ["NewEventType", "EventTypeChange"],
            Kind::Destination => ["NewDestination", "DestinationChange"],
            Kind::Source => ["NewSource", "SourceChange"],
            Kind::Route => ["NewRoute", "RouteChange"],
            Kind::ApiKey => ["NewApiKey", "ApiKeyChange"],
        }
    }
}

/// An end that moves with every run is no state that could be kept, so it stays out of files; and so does what another
/// field says already.
const NOT_IN_FILES: [&str; 3] = ["expires_in_seconds", "role", "route_id"];

fn described() -> Vec<(Kind, Vec<String>)> {
    let document: Value = serde_json::from_slice(&document::text()).expect("the description is JSON");
    let schemas = &document["components"]["schemas"];
    KINDS.map(|kind| (kind, fields_of(kind, schemas))).to_vec()
}

fn fields_of(kind: Kind, schemas: &Value) -> Vec<String> {
    let properties = kind.requests().map(|request| schemas[request]["properties"].as_object());
    let mut fields: Vec<String> = Vec::new();
    for name in properties.into_iter().flatten().flat_map(|properties| properties.keys()) {
        let name = match name.as_str() {
            "destination_id" => "destination",
            "source_id" => "source",
            name if NOT_IN_FILES.contains(&name) => continue,
            name => name,
        };
        if !fields.iter().any(|known| known == name) {
            fields.push(name.to_owned());
        }
    }
    fields
}
