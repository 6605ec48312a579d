//! Objects that stand in a field or a filter, by the name that a person knows them by.

use super::{Kind, text};
use crate::client::Client;
use serde_json::Value;
use std::collections::HashMap;

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

/// The other way round, for lists that people read: where an object is named by its id, its name. One that is gone keeps
/// its id, and so do all where the key may not list them.
pub(in crate::command) fn names_in(client: &Client, mut listed: Value) -> Value {
    for (field, kind) in REFERENCES {
        let is_there = listed.as_array().is_some_and(|all| all.iter().any(|one| one[field].is_string()));
        let known =
            if is_there { client.read(kind.path(), &[]).unwrap_or_default() } else { Value::default() };
        let known = known.as_array().into_iter().flatten();
        let names: HashMap<&str, &Value> = known.map(|one| (text(&one["id"]), &one["name"])).collect();
        for one in listed.as_array_mut().into_iter().flatten() {
            if let Some(name) = names.get(text(&one[field])) {
                one[field] = (*name).clone();
            }
        }
    }
    listed
}

/// Gives the ids for what the fields of an object name.
pub(super) fn ids_of(client: &Client, mut object: Value) -> anyhow::Result<Value> {
    for (name, value) in object.as_object_mut().into_iter().flatten() {
        if let Value::String(text) = value {
            *text = id_in(client, name, std::mem::take(text))?;
        }
    }
    Ok(object)
}
