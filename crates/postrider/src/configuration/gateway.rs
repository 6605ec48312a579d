//! What a gateway has now.

use super::kind::{KINDS, Kind};
use super::object::{Existing, name_of, settings};
use crate::client::{Answer, Client};
use anyhow::Context as _;
use serde_json::{Map, Value};

/// All objects of the account that files are about.
pub(super) fn read(client: &Client) -> anyhow::Result<Vec<Existing>> {
    let mut objects = Vec::new();
    for kind in KINDS {
        let listed = client.get(kind.path()).and_then(Answer::data);
        let listed = listed.with_context(|| format!("cannot list {}", kind.section()))?;
        let Value::Array(listed) = listed else { anyhow::bail!("{} is not a list", kind.path()) };
        for shown in listed {
            let Value::Object(shown) = shown else { continue };
            if is_declarable(kind, &shown) {
                objects.push(existing(kind, shown, &objects));
            }
        }
    }
    Ok(objects)
}

/// One object as it is, with names in place of ids.
pub(super) fn existing(kind: Kind, mut shown: Map<String, Value>, known: &[Existing]) -> Existing {
    for (end, of) in [("source", Kind::Source), ("destination", Kind::Destination)] {
        let id = shown.get(&format!("{end}_id")).and_then(Value::as_str);
        let name =
            id.map(|id| known.iter().find(|one| one.kind == of && one.id == id).map_or(id, |one| &one.name));
        if let Some(name) = name.map(str::to_owned).filter(|_| kind == Kind::Route) {
            shown.insert(end.to_owned(), name.into());
        }
    }
    let id = shown.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let key_prefix = shown.get("key_prefix").and_then(Value::as_str).map(str::to_owned);
    let settings = settings(kind, &shown);
    Existing { kind, name: name_of(kind, &settings), id, key_prefix, settings }
}

/// A revoked key is history, and a session of the portal comes and goes.
fn is_declarable(kind: Kind, shown: &Map<String, Value>) -> bool {
    let is_session = shown.get("scope").is_some_and(|scope| scope == "portal");
    kind != Kind::ApiKey || !(shown.contains_key("revoked_at") || is_session)
}
