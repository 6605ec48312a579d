//! The description of the API by OpenAPI 3.1, made from what the handlers say of themselves.

use super::error::Refusal;
use super::view::word::{EventStatusAsked, ExportFormat};
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// What is true of the whole API; the calls are put in by the router. Schemas that only refusals or parameters refer to
/// are not found by it and listed here.
#[derive(OpenApi)]
#[openapi(
    info(title = "Postrider", description = ABOUT, license(name = "Apache-2.0", identifier = "Apache-2.0")),
    servers((url = "/", description = "This gateway")),
    components(schemas(Refusal, ExportFormat, EventStatusAsked)),
    modifiers(&BearerKey),
    security(("bearer" = [])),
    tags(
        (name = "ingest", description = "The doors for events."),
        (name = "accounts", description = "Tenants and their share."),
        (name = "api keys", description = "Keys of an account."),
        (name = "portal", description = "Links for users of an account, and how it looks to them."),
        (name = "sources", description = "Where events come in."),
        (name = "destinations", description = "Where events go, with their limits."),
        (name = "routes", description = "Which events of which source go to which destination."),
        (name = "event types", description = "What events of a type must look like."),
        (name = "events", description = "What came in, and what became of it."),
        (name = "outbound events", description = "What the account itself sends."),
        (name = "deliveries", description = "Deliveries: one event for one destination."),
        (name = "stats", description = "What was counted."),
        (name = "dead letters", description = "Deliveries that failed for good."),
        (name = "replays", description = "Jobs that replay dead letters."),
        (name = "audit", description = "Who changed what."),
        (name = "gateway", description = "The gateway itself."),
    )
)]
pub(super) struct Api;

const ABOUT: &str = "A webhook gateway: takes events over HTTP and delivers each to every matching destination at \
    least once. Every success under `/v1` is `{\"data\": …}`; every refusal is one sentence in `error` with a \
    stable `code`. Times are RFC 3339 in UTC. With the admin key, the header `Postrider-Account: acc_…` chooses \
    the account to act for.";

struct BearerKey;

impl Modify for BearerKey {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A key, `hk_…`; its scope says which calls it is for."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

/// The document as it is served. It is the same for the whole run.
static TEXT: LazyLock<Bytes> = LazyLock::new(|| {
    let document = super::described().into_openapi();
    let mut document = serde_json::to_value(document).expect("a description is JSON");
    let schemas = document["components"]["schemas"].as_object_mut().expect("there are schemas");
    let objects = schemas.clone();
    schemas.values_mut().for_each(|schema| refer(schema, &objects));
    serde_json::to_string_pretty(&document).expect("a description is JSON").into()
});

/// An envelope holds a copy of the schema that is in it. With a reference in place of that, a client that is made from
/// the description has one type for one thing.
fn refer(schema: &mut Value, objects: &Map<String, Value>) {
    for (key, part) in schema.as_object_mut().into_iter().flatten() {
        match (key.as_str(), part) {
            ("properties", Value::Object(fields)) => {
                fields.values_mut().for_each(|field| put(field, objects));
            }
            ("items", part) => put(part, objects),
            _ => {}
        }
    }
}

fn put(schema: &mut Value, objects: &Map<String, Value>) {
    let named = |known: &Value| known["properties"].is_object() || known["oneOf"].is_array();
    match objects.iter().find(|(_, known)| named(known) && *known == schema) {
        Some((name, _)) => *schema = json!({ "$ref": format!("#/components/schemas/{name}") }),
        None => refer(schema, objects),
    }
}

/// The document, for a command that prints it.
pub(crate) fn text() -> Bytes {
    TEXT.clone()
}

/// This description
#[utoipa::path(get, path = "/openapi.json", operation_id = "get_openapi", tag = "gateway", security(()),
    responses((status = 200, description = "OpenAPI 3.1.", body = Object)))]
pub(super) async fn openapi() -> Response {
    let mut response = Response::new(text().into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
