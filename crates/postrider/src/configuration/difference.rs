//! Where an object differs from how it is declared, field by field.

use super::kind::Kind;
use super::object::Declared;
use super::plan::Wishes;
use super::secret::Secret;
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub(super) enum Difference {
    /// A setting; `null` where there is none.
    Setting { field: String, before: Value, after: Value },
    /// A secret that is sent. How it was is not known, and how it will be is not shown.
    Secret(Secret),
}

impl Difference {
    /// The field of the object that is to be sent.
    pub(super) fn outer(&self) -> &str {
        match self {
            Difference::Setting { field, .. } => field,
            Difference::Secret(secret) => secret.outer(),
        }
    }
}

/// What is to be sent. `before` is nothing when the object is to be made.
pub(super) fn differences(
    declared: &Declared,
    before: Option<&Map<String, Value>>,
    wishes: Wishes<'_>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    for field in declared.kind.fields() {
        let after = declared.settings.get(field).cloned().unwrap_or_default();
        let was = before.and_then(|settings| settings.get(field)).cloned().unwrap_or_default();
        // What is left to its default need not be told when all is new.
        let is_told =
            before.is_some() || declared.fields.contains_key(field) && !is_in_name(declared.kind, field);
        if !same(&was, &after) && is_told {
            found.push(Difference::Setting { field: field.clone(), before: was, after });
        }
        let of_field = declared.secrets.iter().filter(|secret| secret.outer() == field);
        let is_sent = before.is_none_or(|before| wishes.rotate_secrets || needs(field, before, &found));
        found.extend(of_field.filter(|_| is_sent).cloned().map(Difference::Secret));
    }
    found
}

/// What an object goes by is told once.
fn is_in_name(kind: Kind, field: &str) -> bool {
    let ends = kind == Kind::Route && matches!(field, "source" | "destination" | "event_type_pattern");
    kind.name_field() == Some(field) || ends
}

/// A field that changes is sent as a whole, with its secrets. Those of a source the gateway keeps while their number
/// stays, so that a header can be renamed without them.
fn needs(field: &str, before: &Map<String, Value>, found: &[Difference]) -> bool {
    let changed = found.iter().find_map(|difference| match difference {
        Difference::Setting { field: of, after, .. } if of == field => Some(after),
        Difference::Setting { .. } | Difference::Secret(_) => None,
    });
    match changed {
        None => false,
        Some(after) if field == "verification_config" => {
            let secrets = |config: Option<&Value>| {
                let part = |name: &str| config.and_then(|config| config.get(name)).cloned();
                [part("secret"), part("secrets")]
            };
            secrets(before.get(field)) != secrets(Some(after)) || before.get(field).is_none()
        }
        Some(_) => true,
    }
}

/// Equal in meaning: 2 and 2.0 are the same, and the order of names is nobody's.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let found = |(name, value)| other.get(name).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(found)
        }
        (one, other) => one == other,
    }
}
