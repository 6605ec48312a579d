//! The description of the API: whole, sound, and what is served.

use crate::rig::Site;
use crate::rig::contract::DOCUMENT;
use crate::rig::stream::that_ends;
use serde_json::Value;
use std::collections::BTreeSet;

/// Every call of the description as `(method, path, call)`.
pub(super) fn calls() -> Vec<(String, String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().expect("a description has paths");
    let of_path = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, call)| (method.to_uppercase(), path.clone(), call))
    });
    of_path.collect()
}

#[test]
fn the_description_that_is_served_is_the_one_that_is_printed() {
    let site = Site::new();
    let gateway = site.start();
    let served = gateway.api().with_key("").get("/openapi.json");
    assert_eq!(served.status, 200);
    assert_eq!(served.json(), *DOCUMENT);
    assert_eq!(DOCUMENT["openapi"], "3.1.0");
}

#[test]
fn every_call_is_told_apart_summed_up_and_filed() {
    let mut ids = BTreeSet::new();
    let tags: Vec<&Value> = DOCUMENT["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    for (method, path, call) in calls() {
        let id = call["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no id"));
        assert!(ids.insert(id), "{id} is the id of two calls");
        assert!(call["summary"].as_str().is_some_and(|text| !text.is_empty()), "{id} has no summary");
        let filed = call["tags"].as_array().unwrap();
        assert!(filed.len() == 1 && tags.contains(&&filed[0]), "{id} is filed under {filed:?}");
        let refused = call["responses"].as_object().unwrap().keys().any(|status| status.starts_with('4'));
        let takes = path.contains('{') || !call["parameters"].is_null() || !call["requestBody"].is_null();
        assert!(refused || !takes, "{id} takes input and never refuses it");
        let open = is_open(call);
        let unauthorized = !call["responses"]["401"].is_null();
        assert!(open || unauthorized, "{id} needs a key and does not say 401");
        check_path_parameters(&path, call);
    }
    assert!(ids.len() > 30);
}

/// Whether a call is described as one that needs no key.
fn is_open(call: &Value) -> bool {
    let ways = call["security"].as_array();
    ways.is_some_and(|ways| ways.iter().any(|way| way == &serde_json::json!({})))
}

#[test]
fn a_call_that_is_described_with_a_key_is_refused_without_one() {
    let site = Site::new();
    let gateway = site.start();
    let reading = calls().into_iter().filter(|(method, path, _)| method == "GET" && !path.contains('{'));
    for (_, path, call) in reading {
        let status = gateway.api().with_key("").get(&path).status;
        assert_eq!(status == 401, !is_open(call), "GET {path} without a key is answered {status}");
    }
}

fn check_path_parameters(path: &str, call: &Value) {
    let named = |text: &str| text.trim_matches(['{', '}']).to_owned();
    let wanted: Vec<String> = path.split('/').filter(|part| part.starts_with('{')).map(named).collect();
    let all = call["parameters"].as_array().into_iter().flatten();
    let of_path = all.filter(|parameter| parameter["in"] == "path");
    let described: Vec<&str> = of_path.filter_map(|parameter| parameter["name"].as_str()).collect();
    assert_eq!(described, wanted, "{path}");
}

#[test]
fn every_reference_leads_to_something_and_nothing_lies_about() {
    let mut referred = BTreeSet::new();
    collect_references(&DOCUMENT, &mut referred);
    for reference in &referred {
        let target = DOCUMENT.pointer(reference.trim_start_matches('#'));
        assert!(target.is_some_and(Value::is_object), "{reference} leads nowhere");
    }
    let schemas = DOCUMENT["components"]["schemas"].as_object().unwrap().keys();
    let idle: Vec<&String> =
        schemas.filter(|name| !referred.contains(&format!("#/components/schemas/{name}"))).collect();
    assert!(idle.is_empty(), "nothing refers to {idle:?}");
}

fn collect_references(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            into.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| collect_references(value, into));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, into)),
        _ => {}
    }
}

#[test]
fn an_event_that_is_sent_is_described_in_each_of_its_forms() {
    let call = &DOCUMENT["paths"]["/v1/outbound-events"]["post"];
    let forms: Vec<&String> = call["requestBody"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(forms, ["*/*", "application/cloudevents+json", "application/json"]);
    let parameters = call["parameters"].as_array().unwrap();
    for name in ["ce-specversion", "ce-type", "ce-id", "ce-source"] {
        let described = |known: &&Value| known["name"] == name && known["in"] == "header";
        let found = parameters.iter().find(described).unwrap_or_else(|| panic!("{name} is not described"));
        assert_eq!(found["required"], false, "{name}");
    }
}

#[test]
fn a_path_takes_the_methods_that_are_described_and_no_others() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let described = calls();
    let paths: BTreeSet<&String> = described.iter().map(|(_, path, _)| path).collect();
    for path in paths {
        let real = path.split('/').map(|part| if part.starts_with('{') { "none" } else { part });
        let real = that_ends(&real.collect::<Vec<_>>().join("/"));
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let known = described.iter().any(|(some, of, _)| some == method && of == path);
            // What is answered beyond 405 is held against the description by the client itself.
            let answer = api.call(method, &real, &[], b"{\"no such field\": 1}");
            assert_eq!(answer.status != 405, known, "{method} {path}: {answer}");
        }
    }
}

#[test]
fn the_page_to_read_needs_nothing_from_elsewhere() {
    let site = Site::new();
    let gateway = site.start();
    let open = gateway.api().with_key("");
    for (path, content_type) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/page.css", "text/css; charset=utf-8"),
        ("/docs/page.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = open.get(path);
        assert_eq!((answer.status, answer.headers.get("content-type")), (200, Some(content_type)));
        let policy = answer.headers.get("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(!text.contains("://"), "{path} names another host");
        assert!(!text.contains("innerHTML"), "{path} makes markup of text");
        assert!(
            !text.contains("style=\"") && !text.contains("onclick"),
            "{path} has what its policy forbids"
        );
    }
}
