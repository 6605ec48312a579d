//! Secrets stand in a file only as the name of the environment variable that holds them.

use super::kind::Kind;
use super::node::{Node, Part, Place};
use serde_json::{Map, Value, json};

/// A secret that a file names.
#[derive(Clone, Debug)]
pub(super) struct Secret {
    /// The field that holds it, such as `auth_config.token`.
    pub(super) field: String,
    pub(super) variable: String,
    pub(super) place: Place,
}

impl Secret {
    /// The field of the object that it is in.
    pub(super) fn outer(&self) -> &str {
        self.field.split(['.', '[']).next().unwrap_or_default()
    }
}

/// Where the API takes what it never shows again. `*` is any name, `[]` every entry of a list.
const SECRETS: [(Kind, &str); 10] = [
    (Kind::Destination, "signing_secret"),
    (Kind::Destination, "private_key"),
    (Kind::Destination, "auth_config.token"),
    (Kind::Destination, "auth_config.value"),
    (Kind::Destination, "auth_config.password"),
    (Kind::Destination, "custom_headers.*"),
    (Kind::Destination, "client_certificate.private_key_pem"),
    (Kind::Source, "verification_config.secret"),
    (Kind::Source, "verification_config.secrets[]"),
    (Kind::Source, "verification_config.public_key"),
];

/// No secret, though the API hides it as one: a file may show it.
const MAY_BE_SHOWN: &str = "public_key";

/// The secrets of one object.
#[derive(Default)]
pub(super) struct Found {
    pub(super) secrets: Vec<Secret>,
    /// Fields with a secret that is written out.
    pub(super) written_out: Vec<Secret>,
}

/// The secrets of one object; whatever stands in their places and names no variable is written out.
pub(super) fn find(kind: Kind, object: &Node) -> Found {
    let mut found = Found::default();
    for (_, pattern) in SECRETS.iter().filter(|(of, _)| *of == kind) {
        for (field, node) in matching(object, pattern) {
            let place = node.place;
            match variable(node) {
                Some(variable) => {
                    found.secrets.push(Secret { field, variable: variable.to_owned(), place });
                }
                None if field.ends_with(MAY_BE_SHOWN) && is_text(node) => {}
                None => {
                    let variable = suggested("", &field);
                    found.written_out.push(Secret { field, variable, place });
                }
            }
        }
    }
    found
}

/// The value of a field of the API, with what the variables hold. `None` when one of them is not set.
pub(super) fn resolved(field: &str, value: &Value, secrets: &[Secret]) -> Option<Value> {
    let mut object = Map::from_iter([(field.to_owned(), value.clone())]);
    for secret in secrets.iter().filter(|secret| secret.outer() == field) {
        let value = set(&secret.variable)?;
        *at(&mut object, &secret.field)? = value.into();
    }
    object.remove(field)
}

/// What a variable holds, unless it is not set or empty.
pub(super) fn set(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

/// A field as the API would show it, without its secrets.
pub(super) fn redacted(field: &str, value: &Value) -> Value {
    const REDACTED: &str = "[redacted]";
    let Value::Object(object) = value else { return Value::Null };
    let mut shown = object.clone();
    match field {
        "custom_headers" => {
            shown = object.keys().map(|name| (name.to_ascii_lowercase(), REDACTED.into())).collect();
        }
        "verification_config" => {
            let given = ["secret", "public_key"].iter().any(|field| shown.remove(*field).is_some());
            match shown.remove("secrets") {
                Some(Value::Array(several)) if several.len() != 1 => {
                    shown.insert("secrets".into(), json!(vec![REDACTED; several.len()]));
                }
                None if !given => {}
                _ => drop(shown.insert("secret".into(), REDACTED.into())),
            }
        }
        _ => {
            shown.retain(|_, part| variable_of(part).is_none());
            if let Some(Value::String(header)) = shown.get_mut("header") {
                header.make_ascii_lowercase();
            }
        }
    }
    Value::Object(shown)
}

/// A name for the variable of a secret: `billing` and `auth_config.token` make `BILLING_AUTH_CONFIG_TOKEN`.
pub(super) fn suggested(name: &str, field: &str) -> String {
    let mut text = String::new();
    for character in format!("{name}_{field}").chars() {
        match character.to_ascii_uppercase() {
            kept @ ('A'..='Z' | '0'..='9') => text.push(kept),
            _ if text.is_empty() || text.ends_with('_') => {}
            _ => text.push('_'),
        }
    }
    let text = text.trim_end_matches('_');
    if text.starts_with(|first: char| first.is_ascii_digit()) { format!("_{text}") } else { text.to_owned() }
}

fn matching<'a>(object: &'a Node, pattern: &str) -> Vec<(String, &'a Node)> {
    let (outer, inner) = pattern.split_once('.').unwrap_or((pattern, ""));
    let Some(entry) = object.entries().iter().find(|entry| entry.name == outer) else { return Vec::new() };
    match inner.strip_suffix("[]") {
        _ if inner.is_empty() => vec![(outer.to_owned(), &entry.node)],
        None => {
            let named = entry.node.entries().iter().filter(|part| inner == "*" || part.name == inner);
            named.map(|part| (format!("{outer}.{}", part.name), &part.node)).collect()
        }
        Some(inner) => {
            let list = entry.node.entries().iter().find(|part| part.name == inner);
            let Some(Part::List(nodes)) = list.map(|part| &part.node.part) else { return Vec::new() };
            nodes
                .iter()
                .enumerate()
                .map(|(index, node)| (format!("{outer}.{inner}[{index}]"), node))
                .collect()
        }
    }
}

fn variable(node: &Node) -> Option<&str> {
    match node.entries() {
        [only] if only.name == "env" => match &only.node.part {
            Part::Scalar(Value::String(name)) if !name.is_empty() && !name.contains(['=', '\0']) => {
                Some(name)
            }
            _ => None,
        },
        _ => None,
    }
}

fn variable_of(value: &Value) -> Option<&str> {
    value.as_object().filter(|object| object.len() == 1)?.get("env")?.as_str()
}

fn is_text(node: &Node) -> bool {
    matches!(node.part, Part::Scalar(Value::String(_)))
}

/// A place inside of an object. Names of headers may hold dots, so the rest of the path is one name.
fn at<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Value> {
    let Some((outer, inner)) = field.split_once('.') else { return object.get_mut(field) };
    let outer = object.get_mut(outer)?;
    match inner.strip_suffix(']').and_then(|inner| inner.split_once('[')) {
        Some((list, index)) => outer.get_mut(list)?.get_mut(index.parse::<usize>().ok()?),
        None => outer.get_mut(inner),
    }
}
