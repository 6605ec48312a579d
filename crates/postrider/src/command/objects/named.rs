//! Objects that stand in a field or a filter, by the name that a person knows them by.

use super::Kind;
use crate::client::Client;
use serde_json::Value;

/// Fields that hold the id of an object, and of which kind.
const REFERENCES: [(&str, Kind); 3] = [
    ("source_id", Kind::Source),
    ("destination_id", Kind::Destination),
    ("operational_destination_id", Kind::Destination),
];

/// Gives the id for whatever is named; what holds no reference, or an id already, stays as it is.
pub(in crate::command) fn id_in(client: &Client, field: &str, value: String) -> anyhow::Result<String> {
    match REFERENCES.iter().find(|(name, _)| *name == field) {
        Some((_, kind)) => kind.find(client, &value),
        None => Ok(value),
    }
}

/// The same for the filters of a list.
pub(in crate::command) fn ids_in(
    client: &Client,
    filters: Vec<(&'static str, String)>,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    filters.into_iter().map(|(name, value)| Ok((name, id_in(client, name, value)?))).collect()
}

/// The same for the fields of an object.
pub(super) fn ids_of(client: &Client, mut object: Value) -> anyhow::Result<Value> {
    for (name, value) in object.as_object_mut().into_iter().flatten() {
        if let Value::String(text) = value {
            *text = id_in(client, name, std::mem::take(text))?;
        }
    }
    Ok(object)
}
