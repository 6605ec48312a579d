//! What the gateway's description says of each call, held against every answer that a test gets: a call that
//! answers outside of its description fails whichever test made it.

use super::answer::Answer;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

/// Statuses by which the connection itself refuses what is no request; they come without a body.
const NO_REQUEST: [u16; 4] = [400, 408, 413, 431];

/// The description as the binary prints it. That it is what a gateway serves has a test of its own.
pub(crate) static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let printed = Command::new(env!("CARGO_BIN_EXE_postrider")).arg("openapi").output();
    let printed = printed.expect("the binary was built with this test");
    serde_json::from_slice(&printed.stdout).expect("the description is JSON")
});

static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| calls(&DOCUMENT));
static REFUSAL: LazyLock<Validator> =
    LazyLock::new(|| validator(&json!({ "$ref": "#/components/schemas/Refusal" })));

/// One method of one path.
struct Call {
    method: String,
    path: String,
    answers: BTreeMap<String, Described>,
}

/// An answer as it is described.
struct Described {
    /// Media types with their schemas; empty for an answer without a body.
    content: BTreeMap<String, Value>,
    headers: Vec<String>,
    validator: OnceLock<Validator>,
}

/// Fails unless the answer to this request is one that the description allows.
pub(crate) fn check(request: &[u8], answer: &Answer) {
    let head = String::from_utf8_lossy(&request[..request.len().min(8192)]);
    let words: Vec<&str> = head.lines().next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.1"] = words[..] else { return };
    if method == "HEAD" || (answer.body.is_empty() && NO_REQUEST.contains(&answer.status)) {
        return;
    }
    let path = target.split('?').next().unwrap_or_default();
    if let Err(fault) = fault(method, path, answer) {
        panic!("the description does not allow this answer to {method} {path}: {fault}: {answer}");
    }
}

fn fault(method: &str, path: &str, answer: &Answer) -> Result<(), String> {
    let Some(template) = template(path) else { return refusal(answer, 404) };
    let call = CALLS.iter().find(|call| call.path == template && call.method == method);
    let Some(call) = call else { return refusal(answer, 405) };
    let status = answer.status.to_string();
    let Some(described) = call.answers.get(&status) else { return Err(format!("{status} is not described")) };
    described.check(answer)
}

/// What no call is described for is refused as such.
fn refusal(answer: &Answer, status: u16) -> Result<(), String> {
    if answer.status != status {
        return Err("no such call is described".to_owned());
    }
    valid(&REFUSAL, answer)
}

impl Described {
    fn check(&self, answer: &Answer) -> Result<(), String> {
        if let Some(missing) = self.headers.iter().find(|name| answer.headers.get(name).is_none()) {
            return Err(format!("the header {missing} is described and not there"));
        }
        let content_type = answer.headers.get("content-type").unwrap_or_default();
        let media = content_type.split(';').next().unwrap_or_default();
        match self.content.get(media) {
            None if self.content.is_empty() && answer.body.is_empty() => Ok(()),
            None => Err(format!("content of type {content_type:?} is not described")),
            Some(schema) if media == "application/json" => {
                valid(self.validator.get_or_init(|| validator(schema)), answer)
            }
            Some(_) => Ok(()),
        }
    }
}

fn valid(validator: &Validator, answer: &Answer) -> Result<(), String> {
    let body: Value = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
    let faults: Vec<String> =
        validator.iter_errors(&body).map(|error| format!("{error} at {}", error.instance_path())).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// A schema of the description, stricter than it says: a field that is not described is a fault too.
fn validator(schema: &Value) -> Validator {
    let mut whole = json!({ "allOf": [schema], "components": DOCUMENT["components"] });
    close(&mut whole);
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&whole).unwrap_or_else(|error| panic!("{schema} is no schema: {error}"))
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            if object.get("type") == Some(&json!("object")) && object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// The described path that a path of a request means. One without variable parts goes before one with them.
fn template(path: &str) -> Option<&'static str> {
    let matches = |call: &&Call| {
        let (described, asked) = (call.path.split('/'), path.split('/'));
        described.clone().count() == asked.clone().count()
            && described
                .zip(asked)
                .all(|(part, asked)| part == asked || (part.starts_with('{') && !asked.is_empty()))
    };
    let found = CALLS.iter().filter(matches).min_by_key(|call| call.path.matches('{').count());
    found.map(|call| call.path.as_str())
}

fn calls(document: &Value) -> Vec<Call> {
    let paths = document["paths"].as_object().expect("a description has paths");
    let of_path = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, call)| (method.to_uppercase(), path.clone(), call))
    });
    of_path.map(|(method, path, call)| Call { method, path, answers: answers(call) }).collect()
}

fn answers(call: &Value) -> BTreeMap<String, Described> {
    let described = |(status, answer): (&String, &Value)| {
        let content = answer["content"].as_object().into_iter().flatten();
        let content = content.map(|(media, body)| (media.clone(), body["schema"].clone())).collect();
        let headers = answer["headers"].as_object().into_iter().flatten();
        let headers = headers.map(|(name, _)| name.to_ascii_lowercase()).collect();
        (status.clone(), Described { content, headers, validator: OnceLock::new() })
    };
    call["responses"].as_object().into_iter().flatten().map(described).collect()
}

#[test]
fn an_answer_outside_of_the_description_is_found() {
    let answer = |status: u16, body: &str| Answer {
        status,
        headers: super::wire::Headers(vec![("content-type".into(), "application/json".into())]),
        body: body.into(),
    };
    let check = |method: &str, path: &str, status: u16, body: &str, wrong: &str| {
        let found = fault(method, path, &answer(status, body)).err().unwrap_or_default();
        assert!(found.contains(wrong) && found.is_empty() == wrong.is_empty(), "{method} {path}: {found:?}");
    };
    let refused = r##"{ "error": "No.", "code": "not_found", "docs": "https://example.com/#not_found" }"##;
    check("GET", "/healthz", 200, r#"{ "status": "ok" }"#, "");
    check("GET", "/healthz", 201, r#"{ "status": "ok" }"#, "201 is not described");
    check("GET", "/healthz", 200, r#"{ "status": 1 }"#, "not of type");
    check("GET", "/healthz", 200, r#"{ "status": "ok", "extra": 1 }"#, "extra");
    check("GET", "/healthz", 200, "{", "EOF");
    check("GET", "/v1/sources/src_1", 404, refused, "");
    check("GET", "/v1/sources/src_1", 404, r#"{ "error": "No." }"#, "code");
    check("PUT", "/v1/sources/src_1", 404, refused, "no such call");
    check("GET", "/nowhere", 404, refused, "");
    check("GET", "/nowhere", 200, refused, "no such call");
    check("DELETE", "/v1/sources/src_1", 204, "{}", "content of type");
    check("GET", "/v1/sources/src_1", 200, "{}", "the header etag");
    check("POST", "/v1/dead-letters/discard", 200, r#"{ "data": { "discarded": 1 } }"#, "");
}
