//! What a change of the configuration comes to: the fields that it sets, as answers show them. Secrets are in no view, so
//! they are in no record; of one that is replaced it is said that it was.

use super::note::By;
use crate::api::view;
use postrider_core::id::AccountId;
use postrider_core::time::Timestamp;
use postrider_engine::Catalog;
use postrider_store::{Account, ApiKey, Change, Destination, Scope, Source};
use serde::Serialize;
use serde_json::{Map, Value};

/// A value that is longer is told by its length: schemas and expressions may be long, and records are many.
const VALUE_BYTES_MAX: usize = 2048;

/// What an object is doing, and not what it is.
const NOT_SET: [&str; 14] = [
    "in_flight",
    "pending",
    "pending_bytes",
    "circuit_state",
    "circuit_opened_at",
    "circuit_reason",
    "next_probe_at",
    "consecutive_failures",
    "activity_age_ms",
    "concurrency",
    "waiting_for",
    "waiting_until",
    "blocked_keys",
    "last_used_at",
];

/// What a record tells of one object.
pub(super) struct Facts {
    pub(super) account: AccountId,
    pub(super) noun: &'static str,
    pub(super) object: Option<String>,
    pub(super) before: Option<Map<String, Value>>,
    pub(super) after: Option<Map<String, Value>>,
}

/// `None` for what changes nothing for anybody. What is the operators' own is kept with this account of theirs.
pub(super) fn facts(
    catalog: &Catalog,
    change: &Change,
    by: By,
    operators: AccountId,
    now: Timestamp,
) -> Option<Facts> {
    let account = by.account;
    // An admin's keys are no affair of the account that they are kept with.
    let of_key = |key: &ApiKey| if key.scope == Scope::Admin { operators } else { key.account };
    Some(match change {
        Change::PutAccount(put) => {
            let before = catalog.account(put.id).map(shown_account);
            told(put.id, "account", put.id.to_string(), before, Some(shown_account(put)))
        }
        Change::PutApiKey(put) => {
            let before = catalog.api_keys(put.account).into_iter().find(|key| key.id == put.id);
            let before = before.as_ref().map(|key| fields(&view::ApiKey::of(key)));
            told(of_key(put), "api_key", put.id.to_string(), before, Some(fields(&view::ApiKey::of(put))))
        }
        Change::PutSource(put) => source(catalog, put),
        Change::PutDestination(put) => destination(catalog, put),
        Change::PutRoute(put) => {
            let before = catalog.route(put.account, put.id).map(|route| fields(&view::Route::of(route)));
            told(put.account, "route", put.id.to_string(), before, Some(fields(&view::Route::of(put))))
        }
        Change::PutEventType(put) => {
            let before = catalog.event_types().get(put.account, put.id);
            let before = before.map(|known| fields(&view::EventType::of(known)));
            let after = Some(fields(&view::EventType::of(put)));
            told(put.account, "event_type", put.id.to_string(), before, after)
        }
        Change::DeleteAccount(id) => {
            // Nobody can act for it any more, so the operator's own account keeps the record.
            let before = catalog.account(*id).map(shown_account);
            told(account, "account", id.to_string(), before, None)
        }
        Change::DeleteApiKey(id) => {
            // Sessions that are over make room; nobody took them away.
            let found = catalog.api_keys(account).into_iter().find(|key| key.id == *id);
            let found = found.filter(|key| key.counts_at(now))?;
            let before = Some(fields(&view::ApiKey::of(&found)));
            told(of_key(&found), "api_key", id.to_string(), before, None)
        }
        Change::DeleteSource(id) => {
            let before = catalog.source(account, *id).map(|found| shown_source(found));
            told(account, "source", id.to_string(), before, None)
        }
        Change::DeleteDestination(id) => {
            let before = catalog.destination(account, *id).map(|found| shown_destination(found));
            told(account, "destination", id.to_string(), before, None)
        }
        Change::DeleteRoute(id) => {
            let before = catalog.route(account, *id).map(|found| fields(&view::Route::of(found)));
            told(account, "route", id.to_string(), before, None)
        }
        Change::DeleteEventType(id) => {
            let before = catalog.event_types().get(account, *id);
            let before = before.map(|known| fields(&view::EventType::of(known)));
            told(account, "event_type", id.to_string(), before, None)
        }
        Change::Record(_) => return None,
    })
}

fn told(
    account: AccountId,
    noun: &'static str,
    object: String,
    mut before: Option<Map<String, Value>>,
    mut after: Option<Map<String, Value>>,
) -> Facts {
    if let (Some(before), Some(after)) = (&mut before, &mut after) {
        keep_differences(before, after);
    }
    before.iter_mut().chain(&mut after).for_each(shorten);
    Facts { account, noun, object: Some(object), before, after }
}

fn source(catalog: &Catalog, put: &Source) -> Facts {
    let known = catalog.source(put.account, put.id);
    let before = known.map(|source| shown_source(source));
    let mut facts = told(put.account, "source", put.id.to_string(), before, Some(shown_source(put)));
    if known.is_some_and(|known| known.verification != put.verification) {
        facts.note_secret("verification_config");
    }
    facts
}

fn destination(catalog: &Catalog, put: &Destination) -> Facts {
    let known = catalog.destination(put.account, put.id);
    let before = known.map(|destination| shown_destination(destination));
    let after = Some(shown_destination(put));
    let mut facts = told(put.account, "destination", put.id.to_string(), before, after);
    let Some(known) = known else { return facts };
    let replaced = [
        ("signing_secret", known.signing_secret != put.signing_secret || known.signing != put.signing),
        ("auth_config", known.auth != put.auth),
        ("custom_headers", known.custom_headers != put.custom_headers),
        ("client_certificate", known.tls != put.tls),
    ];
    replaced.into_iter().filter(|(_, other)| *other).for_each(|(field, _)| facts.note_secret(field));
    facts
}

impl Facts {
    /// Says of a secret that it is another one, where the view shows no difference.
    fn note_secret(&mut self, field: &str) {
        if let Some(after) = &mut self.after {
            after.entry(field).or_insert_with(|| "[replaced]".into());
        }
    }
}

/// With its brand, which has a call of its own.
fn shown_account(account: &Account) -> Map<String, Value> {
    let mut shown = fields(&view::Account::of(account));
    let brand = fields(&view::Brand::of(&account.brand));
    if !brand.is_empty() {
        shown.insert("brand".to_owned(), Value::Object(brand));
    }
    shown
}

/// Whoever may read the log may not be one who may send.
fn shown_source(source: &Source) -> Map<String, Value> {
    fields(&view::Source::of(source, "").without_token())
}

fn shown_destination(destination: &Destination) -> Map<String, Value> {
    fields(&view::Destination::of(destination, None))
}

fn fields(view: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(mut shown)) = serde_json::to_value(view) else { unreachable!("views are objects") };
    shown.retain(|name, _| !NOT_SET.contains(&name.as_str()));
    shown
}

fn keep_differences(before: &mut Map<String, Value>, after: &mut Map<String, Value>) {
    let same: Vec<String> = before
        .iter()
        .filter(|(name, value)| after.get(*name) == Some(value))
        .map(|(name, _)| name.clone())
        .collect();
    for name in same {
        before.remove(&name);
        after.remove(&name);
    }
}

fn shorten(fields: &mut Map<String, Value>) {
    for value in fields.values_mut() {
        let bytes = value.to_string().len();
        if bytes > VALUE_BYTES_MAX {
            *value = format!("[{bytes} bytes]").into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_record_tells_what_differs_and_is_short() {
        let long = "x".repeat(VALUE_BYTES_MAX);
        let before = object(&json!({ "name": "a", "priority": 3, "filter": "true" }));
        let after = object(&json!({ "name": "a", "priority": 1, "transform": long }));
        let facts = told(AccountId::from_u64(1), "route", "rte_1".into(), Some(before), Some(after));
        assert_eq!(facts.before.unwrap(), object(&json!({ "priority": 3, "filter": "true" })));
        assert_eq!(facts.after.unwrap(), object(&json!({ "priority": 1, "transform": "[2050 bytes]" })));
    }

    #[test]
    fn what_is_made_or_deleted_is_told_in_full() {
        let whole = object(&json!({ "name": "a" }));
        let made = told(AccountId::from_u64(1), "route", "rte_1".into(), None, Some(whole.clone()));
        assert_eq!((made.before, made.after), (None, Some(whole)));
    }
}
