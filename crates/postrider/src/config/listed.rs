//! Destinations listed in the file: each gets every event posted to `/ingress`.

use super::layers::Layers;
use postrider_core::destination::{CircuitPolicy, MaxConcurrency, RateLimit, TimeoutSeconds};
use postrider_core::retry::{BadField, RetryPolicy};
use postrider_engine::send::DestinationUrl;
use postrider_store::codec::{circuit_from_json, policy_from_json, rate_from_json};
use std::collections::HashSet;
use toml::{Table, Value};

/// One `[[destinations]]` of the file.
#[derive(Clone, Debug)]
pub(crate) struct ListedDestination {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) max_concurrency: MaxConcurrency,
    pub(crate) timeout: TimeoutSeconds,
    pub(crate) retry_policy: Option<RetryPolicy>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) circuit: CircuitPolicy,
    pub(crate) adaptive: bool,
}

const FIELDS: [&str; 8] = [
    "name",
    "url",
    "max_concurrency",
    "timeout_seconds",
    "retry_policy",
    "rate_limit",
    "circuit",
    "adaptive",
];

pub(super) fn read(layers: &mut Layers) -> Vec<ListedDestination> {
    let Some(listed) = layers.listed.take() else { return Vec::new() };
    let Value::Array(items) = listed else {
        layers.mistake("destinations: must be an array of tables, each begun by [[destinations]]".into());
        return Vec::new();
    };
    let (mut destinations, mut names) = (Vec::new(), HashSet::new());
    for (index, item) in items.iter().enumerate() {
        let place = format!("destinations[{index}]");
        match read_one(item) {
            Ok(found) if !names.insert(found.name.clone()) => {
                layers.mistake(format!("{place}.name: {:?} is listed twice", found.name));
            }
            Ok(found) => destinations.push(found),
            Err(mistakes) => mistakes.into_iter().for_each(|(field, allowed)| {
                layers.mistake(format!("{place}.{field}: {allowed}"));
            }),
        }
    }
    destinations
}

type FieldMistakes = Vec<(String, String)>;

fn read_one(item: &Value) -> Result<ListedDestination, FieldMistakes> {
    let Value::Table(table) = item else { return Err(vec![("".into(), "must be a table".into())]) };
    let mut mistakes = FieldMistakes::new();
    for unknown in table.keys().filter(|key| !FIELDS.contains(&key.as_str())) {
        mistakes.push((unknown.clone(), format!("no such field; allowed are {}", FIELDS.join(", "))));
    }
    let name = required(table, "name", &mut mistakes);
    let url = required(table, "url", &mut mistakes);
    if let Some(Err(error)) = url.as_deref().map(DestinationUrl::parse) {
        mistakes.push(("url".into(), error.to_string()));
    }
    let max_concurrency = limit(table, "max_concurrency", MaxConcurrency::new, &mut mistakes);
    let timeout = limit(table, "timeout_seconds", TimeoutSeconds::new, &mut mistakes);
    let retry_policy = part(table, "retry_policy", policy_from_json, &mut mistakes);
    let rate_limit = part(table, "rate_limit", rate_from_json, &mut mistakes);
    let circuit = part(table, "circuit", circuit_from_json, &mut mistakes).unwrap_or_default();
    let adaptive = table.get("adaptive").is_none_or(|value| {
        value.as_bool().unwrap_or_else(|| {
            mistakes.push(("adaptive".into(), "must be true or false".into()));
            true
        })
    });
    match (name, url) {
        (Some(name), Some(url)) if mistakes.is_empty() => Ok(ListedDestination {
            name,
            url,
            max_concurrency,
            timeout,
            retry_policy,
            rate_limit,
            circuit,
            adaptive,
        }),
        _ => Err(mistakes),
    }
}

fn required(table: &Table, field: &str, mistakes: &mut FieldMistakes) -> Option<String> {
    match table.get(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.clone()),
        Some(_) => {
            mistakes.push((field.into(), "must be a text that is not empty".into()));
            None
        }
        None => {
            mistakes.push((field.into(), "is missing".into()));
            None
        }
    }
}

fn limit<T: Default, E: std::fmt::Display>(
    table: &Table,
    field: &str,
    check: impl Fn(u64) -> Result<T, E>,
    mistakes: &mut FieldMistakes,
) -> T {
    let Some(value) = table.get(field) else { return T::default() };
    // Zero is never legal, so it stands in for what is no whole number at all.
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    check(number).unwrap_or_else(|error| {
        mistakes.push((field.into(), error.to_string()));
        T::default()
    })
}

/// A part that is a table of its own, read as the API reads it.
fn part<T>(
    table: &Table,
    field: &str,
    read: impl Fn(&serde_json::Value) -> Result<T, BadField>,
    mistakes: &mut FieldMistakes,
) -> Option<T> {
    let value = serde_json::to_value(table.get(field)?).unwrap_or_default();
    let named = |part: &str| if part.is_empty() { field.to_owned() } else { format!("{field}.{part}") };
    read(&value).map_err(|bad| mistakes.push((named(bad.field), bad.allowed))).ok()
}
