//! What a file declares and what a gateway has, in the one form in which they are compared.

use super::kind::Kind;
use super::node::Place;
use super::secret::Secret;
use serde_json::{Map, Value};

/// An object of a file.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) place: Place,
    /// The fields as they are written, with references to variables.
    pub(super) fields: Map<String, Value>,
    /// The settings as a gateway would show them, defaults included.
    pub(super) settings: Map<String, Value>,
    pub(super) secrets: Vec<Secret>,
}

/// An object of a gateway.
#[derive(Clone, Debug)]
pub(super) struct Existing {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) id: String,
    /// How a key begins.
    pub(super) key_prefix: Option<String>,
    pub(super) settings: Map<String, Value>,
}

/// Of what is shown, the settings: what a file may give.
pub(super) fn settings(kind: Kind, shown: &Map<String, Value>) -> Map<String, Value> {
    let given = kind.fields().iter().filter_map(|field| Some((field.clone(), shown.get(field)?.clone())));
    given.collect()
}

/// What an object goes by: its name, or for a route whence, whither and which types.
pub(super) fn name_of(kind: Kind, settings: &Map<String, Value>) -> String {
    let text = |field: &str| settings.get(field).and_then(Value::as_str);
    match kind.name_field() {
        Some(field) => text(field).unwrap_or_default().to_owned(),
        None => {
            let from = text("source").unwrap_or("any source");
            let to = text("destination").unwrap_or_default();
            format!("{from} → {to} ({})", text("event_type_pattern").unwrap_or("**"))
        }
    }
}
