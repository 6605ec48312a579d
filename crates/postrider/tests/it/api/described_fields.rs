//! The fields and parameters that are described are those that are read, call by call: an unknown one is refused with
//! the list of those that are known.

use super::document::calls;
use crate::rig::api::text;
use crate::rig::contract::DOCUMENT;
use crate::rig::{Answer, Api, Site};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// No field of anything.
const UNKNOWN: &str = "no_such_field";

/// What calls need to be answered for real, by the variable part of their path and their required fields.
struct World {
    ids: BTreeMap<&'static str, String>,
    fields: BTreeMap<&'static str, Value>,
}

impl World {
    fn new(api: &Api) -> Self {
        let account = text(&api.get("/v1/accounts").data(200)[0]["id"]);
        let (source, _) = api.source();
        let url = "http://127.0.0.1:9/";
        let destination = api.make("/v1/destinations", &json!({ "name": "nobody", "url": url }));
        let route = api.make("/v1/routes", &json!({ "destination_id": destination }));
        let key = api.make("/v1/api-keys", &json!({ "name": "spare" }));
        let replay = text(&api.post("/v1/replays", &json!({})).data(202)["id"]);
        let fields = [
            ("name", json!("some name")),
            ("url", json!(url)),
            ("destination_id", json!(destination)),
            ("state", json!("closed")),
            ("event_type", json!("order.created")),
            ("schema", json!({ "type": "object" })),
            ("payload", json!("x")),
        ];
        let described = json!({ "event_type": "order.paid", "schema": {} });
        let event_type = api.make("/v1/event-types", &described);
        let ids = [
            ("/v1/event-types/", event_type),
            ("/v1/accounts/", account),
            ("/v1/sources/", source),
            ("/v1/destinations/", destination),
            ("/v1/routes/", route),
            ("/v1/api-keys/", key),
            ("/v1/replays/", replay),
            // Whether there is such a one is asked last.
            ("/v1/dead-letters/", "dlv_0000000000000".to_owned()),
            ("/v1/events/", "evt_0000000000000".to_owned()),
            ("/v1/outbound-events/", "evt_0000000000000".to_owned()),
        ];
        World { ids: ids.into(), fields: fields.into() }
    }

    fn path(&self, template: &str) -> String {
        let Some((before, after)) = template.split_once("{id}") else { return template.to_owned() };
        let id = self.ids.get(before).unwrap_or_else(|| panic!("give World an id for {template}"));
        format!("{before}{id}{after}")
    }

    /// The required fields of a schema, so that only the unknown one is wrong.
    fn body(&self, schema: &Value) -> Value {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let value = |field: &str| self.fields.get(field).unwrap_or_else(|| panic!("give World a {field}"));
        let body: Map<String, Value> =
            required.map(|field| (field.to_owned(), value(field).clone())).collect();
        Value::Object(body)
    }
}

/// The fields of a schema, by name.
fn fields(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().into_iter().flatten().map(|(field, _)| field.clone()).collect()
}

/// A schema, or the one that it refers to, also where it may be `null`.
fn resolve(schema: &'static Value) -> &'static Value {
    let alternatives = schema["oneOf"].as_array();
    let schema =
        alternatives.and_then(|ways| ways.first()).filter(|way| way["$ref"].is_string()).unwrap_or(schema);
    match schema["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.trim_start_matches('#')).expect("a test of its own"),
        None => schema,
    }
}

/// What the refusal of an unknown one names as allowed.
fn allowed(answer: &Answer) -> BTreeSet<String> {
    let sentence = answer.refusal(422);
    assert!(sentence.contains(UNKNOWN), "{sentence}");
    let (_, list) = sentence.split_once("allowed are ").unwrap_or(("", ""));
    list.trim_end_matches('.').split(", ").filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_described_fields_of_a_body_are_the_known_ones() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let world = World::new(&api);
    let mut compared = 0;
    for (method, path, call) in calls() {
        let schema = resolve(&call["requestBody"]["content"]["application/json"]["schema"]);
        if schema.is_null() {
            continue;
        }
        let required = world.body(schema);
        let mut ask = |body: &mut Value, described: BTreeSet<String>, place: &str| {
            let answer = api.call(&method, &world.path(&path), &[], body.to_string().as_bytes());
            assert_eq!(allowed(&answer), described, "{method} {path} {place}");
            compared += 1;
        };
        let mut body = required.clone();
        body[UNKNOWN] = json!(1);
        ask(&mut body, fields(schema), "");
        for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
            let inner = resolve(inner);
            if inner["properties"].is_null() {
                continue;
            }
            let mut body = required.clone();
            body[field] = json!({ UNKNOWN: 1 });
            if field == "verification_config" {
                body["auth_mode"] = json!("shared_secret");
            }
            ask(&mut body, fields(inner), field);
        }
    }
    assert!(compared > 20, "only {compared} bodies were compared");
}

#[test]
fn the_described_parameters_are_the_known_ones() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let mut compared = 0;
    for (method, path, call) in calls() {
        let parameters = call["parameters"].as_array().into_iter().flatten();
        let of_query = parameters.filter(|parameter| parameter["in"] == "query");
        let described: BTreeSet<String> = of_query.map(|parameter| text(&parameter["name"])).collect();
        if described.is_empty() {
            continue;
        }
        let answer = api.call(&method, &format!("{path}?{UNKNOWN}=1"), &[], b"");
        assert_eq!(allowed(&answer), described, "{method} {path}");
        compared += 1;
    }
    assert!(compared >= 3, "only {compared} calls have parameters");
}
