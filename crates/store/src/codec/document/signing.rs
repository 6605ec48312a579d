//! With what a destination signs, as part of its document. Keys are sealed, the rotated ones together.

use super::BadDocument;
use super::fields::{Reading, Writing};
use crate::{PreviousKeys, PrivateKeyText, SignatureVersions, Signing};
use postrider_core::time::Timestamp;
use serde_json::Value;

const PREVIOUS: &str = "previous_keys";

pub(super) fn write(signing: &Signing, into: &mut Writing<'_>) {
    into.put("signature_versions", signing.versions.words());
    if let Some(PrivateKeyText(key)) = &signing.private_key {
        into.secret("private_key", key);
    }
    if !signing.previous.is_empty() {
        let list: Vec<Value> = signing.previous.iter().map(previous_to_json).collect();
        into.secret(PREVIOUS, &Value::from(list).to_string());
    }
}

pub(super) fn read(from: &Reading<'_>) -> Result<Signing, BadDocument> {
    let previous = match from.maybe_secret(PREVIOUS)? {
        // Opened, it is checked as the field that it was sealed in.
        Some(list) => from.get(PREVIOUS, |_| previous_from_text(&list))?,
        None => Vec::new(),
    };
    Ok(Signing {
        versions: from.get("signature_versions", versions)?,
        private_key: from.maybe_secret("private_key")?.map(PrivateKeyText),
        previous,
    })
}

fn versions(value: &Value) -> Option<SignatureVersions> {
    let words: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    SignatureVersions::from_words(&words?)
}

fn previous_to_json(keys: &PreviousKeys) -> Value {
    let private_key = keys.private_key.as_ref().map(|key| key.0.as_str());
    (vec![Value::from(keys.secret.as_str()), private_key.into(), keys.until.unix_ms().into()]).into()
}

fn previous_from_text(text: &str) -> Option<Vec<PreviousKeys>> {
    let list: Vec<(String, Option<String>, u64)> = serde_json::from_str(text).ok()?;
    let keys = |(secret, private_key, until): (_, Option<String>, _)| PreviousKeys {
        secret,
        private_key: private_key.map(PrivateKeyText),
        until: Timestamp::from_unix_ms(until),
    };
    Some(list.into_iter().map(keys).collect())
}
