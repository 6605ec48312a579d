//! The bodies that a step sends: names become ids, and variables become what they hold.

use super::difference::Difference;
use super::kind::Kind;
use super::object::{Declared, Existing};
use super::secret::{self, Secret};
use crate::api::SECRET_FIELDS;
use anyhow::Context as _;
use serde_json::{Map, Value};

/// What makes an object. A source is made active, so what its status is to be comes after.
pub(super) fn new(declared: &Declared, known: &[Existing]) -> anyhow::Result<Value> {
    let mut body = Map::new();
    for (field, value) in declared.fields.iter().filter(|(field, _)| !is_later(declared, field)) {
        put(&mut body, field, value, &declared.secrets, known)?;
    }
    Ok(Value::Object(body))
}

/// What must be said of an object after it is made.
pub(super) fn after_new(declared: &Declared) -> Option<Value> {
    let inactive = declared.settings.get("status").filter(|status| *status == "inactive")?;
    (declared.kind == Kind::Source).then(|| serde_json::json!({ "status": inactive }))
}

fn is_later(declared: &Declared, field: &str) -> bool {
    declared.kind == Kind::Source && field == "status"
}

/// What changes an object. A field that the file does not give goes back to its default, and so does a part of one.
pub(super) fn change(
    declared: &Declared,
    existing: &Existing,
    differences: &[Difference],
    known: &[Existing],
) -> anyhow::Result<Value> {
    let mut body = Map::new();
    for field in differences.iter().map(Difference::outer) {
        let given = declared.fields.get(field).filter(|value| !value.is_null());
        let value = given.or_else(|| declared.settings.get(field)).unwrap_or(&Value::Null);
        let is_sent = |secret: &&Secret| {
            differences
                .iter()
                .any(|one| matches!(one, Difference::Secret(sent) if sent.field == secret.field))
        };
        let sent: Vec<Secret> = declared.secrets.iter().filter(is_sent).cloned().collect();
        put(&mut body, field, &without_unsent(field, value, &sent), &sent, known)?;
        take_away(&mut body, field, existing);
    }
    Ok(Value::Object(body))
}

/// The gateway keeps the secrets of a source when none is given.
fn without_unsent(field: &str, value: &Value, sent: &[Secret]) -> Value {
    let mut value = value.clone();
    let keeps = field == "verification_config" && !sent.iter().any(|secret| secret.outer() == field);
    if let Some(config) = value.as_object_mut().filter(|_| keeps) {
        for secret in ["secret", "secrets"] {
            config.remove(secret);
        }
    }
    value
}

/// The gateway keeps the parts of an object that are not given. So those that are there and that the file does not have
/// are taken away by name; secrets are kept or given by [`without_unsent`].
fn take_away(body: &mut Map<String, Value>, field: &str, existing: &Existing) {
    let there = existing.settings.get(field).and_then(Value::as_object);
    let (Some(given), Some(there)) = (body.get_mut(field).and_then(Value::as_object_mut), there) else {
        return;
    };
    for part in there.keys().filter(|part| field != "verification_config" || !is_secret(part)) {
        // Names of headers are the same in any case.
        if !given.keys().any(|kept| kept.eq_ignore_ascii_case(part)) {
            given.insert(part.clone(), Value::Null);
        }
    }
}

fn is_secret(part: &str) -> bool {
    SECRET_FIELDS.contains(&part)
}

fn put(
    body: &mut Map<String, Value>,
    field: &str,
    value: &Value,
    secrets: &[Secret],
    known: &[Existing],
) -> anyhow::Result<()> {
    let end = match field {
        "source" => Some(Kind::Source),
        "destination" => Some(Kind::Destination),
        _ => None,
    };
    let (name, value) = match end {
        Some(kind) => (format!("{field}_id"), id(kind, value, known)?),
        None => {
            let value = secret::resolved(field, value, secrets);
            (field.to_owned(), value.with_context(|| format!("a variable for {field} is not set"))?)
        }
    };
    body.insert(name, value);
    Ok(())
}

fn id(kind: Kind, name: &Value, known: &[Existing]) -> anyhow::Result<Value> {
    let Some(name) = name.as_str() else { return Ok(Value::Null) };
    let found = known.iter().find(|one| one.kind == kind && one.name == name);
    let found = found.with_context(|| format!("the gateway has no {} {name}", kind.noun()))?;
    Ok(Value::from(found.id.as_str()))
}
