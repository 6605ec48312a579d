//! Writes the file that declares what a gateway has: the settings that are no defaults, and names of variables in the
//! place of secrets.

use super::difference::same;
use super::file::{Format, blank};
use super::kind::{KINDS, Kind};
use super::object::Existing;
use super::{secret, toml_text, yaml_text};
use anyhow::ensure;
use serde_json::{Map, Value, json};

const HEAD: &str = "# Written by `postrider export`. It contains no secrets: set each in the environment variable named in its place.\n";

/// The file. Refused where names could not tell two objects apart.
pub(super) fn export(existing: &[Existing], format: Format) -> anyhow::Result<String> {
    let doubles = doubles(existing);
    ensure!(
        doubles.is_empty(),
        "names must be unique for a file; rename or delete all but one of {}",
        doubles.join(", ")
    );
    let mut root = Map::new();
    for kind in KINDS {
        let objects: Vec<Value> = existing.iter().filter(|one| one.kind == kind).map(declared).collect();
        if !objects.is_empty() {
            root.insert(kind.section().to_owned(), objects.into());
        }
    }
    let body = match format {
        Format::Yaml => yaml_text::write(&Value::Object(root)),
        Format::Toml => toml_text::write(&Value::Object(root))?,
    };
    Ok(format!("{HEAD}{body}"))
}

fn doubles(existing: &[Existing]) -> Vec<String> {
    let mut doubles = Vec::new();
    for (index, object) in existing.iter().enumerate() {
        let is_same = |other: &Existing| {
            object.kind == other.kind
                && object.name == other.name
                && object.settings.get("filter") == other.settings.get("filter")
        };
        let said = format!("{} {}", object.kind.section(), object.name);
        if existing[..index].iter().any(is_same) && !doubles.contains(&said) {
            doubles.push(said);
        }
    }
    doubles
}

fn declared(object: &Existing) -> Value {
    let defaults = blank(object.kind, &object.settings);
    let mut fields = Map::new();
    for (field, value) in &object.settings {
        let is_needed = object.kind.name_field() == Some(field) || matches!(field.as_str(), "url" | "schema");
        let is_default = defaults.get(field).is_some_and(|default| same(default, value));
        // It follows from whether there is a verification_config.
        if field != "auth_mode" && (is_needed || !is_default) {
            fields.insert(field.clone(), with_variables(&object.name, field, value));
        }
    }
    if object.kind == Kind::Destination {
        fields.insert("signing_secret".into(), variable(&object.name, "signing_secret"));
        let versions = object.settings.get("signature_versions").and_then(Value::as_array);
        if versions.is_some_and(|versions| versions.iter().any(|version| version == "v1a")) {
            fields.insert("private_key".into(), variable(&object.name, "private_key"));
        }
    }
    Value::Object(fields)
}

fn variable(name: &str, field: &str) -> Value {
    json!({ "env": secret::suggested(name, field) })
}

/// What the gateway hides is named.
fn with_variables(name: &str, field: &str, value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let mut object = object.clone();
    match field {
        "custom_headers" => {
            let named = |header: &String| variable(name, &format!("header_{header}"));
            object = object.keys().map(|header| (header.clone(), named(header))).collect();
        }
        "verification_config" => {
            if object.contains_key("secret") {
                object.insert("secret".into(), variable(name, "verification_secret"));
            }
            if let Some(Value::Array(several)) = object.get_mut("secrets") {
                let numbered = (1..).zip(several);
                numbered.for_each(|(n, one)| *one = variable(name, &format!("verification_secret_{n}")));
            }
        }
        "auth_config" => {
            let secret = match object.get("type").and_then(Value::as_str) {
                Some("bearer") => "token",
                Some("basic") => "password",
                _ => "value",
            };
            object.insert(secret.into(), variable(name, &format!("auth_{secret}")));
        }
        "client_certificate" => {
            object.insert("private_key_pem".into(), variable(name, "client_private_key"));
        }
        _ => {}
    }
    Value::Object(object)
}
