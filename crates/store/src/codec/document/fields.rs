//! Fields of a document, written and read. A field without a value is left out; a secret is sealed for its place.

use super::{BadDocument, Document, Kind};
use crate::vault::{NotOpened, Vault};
use postrider_core::time::Timestamp;
use serde_json::{Map, Value};

pub(super) struct Writing<'a> {
    kind: Kind,
    id: u64,
    vault: &'a Vault,
    object: Map<String, Value>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(kind: Kind, id: u64, vault: &'a Vault) -> Self {
        Writing { kind, id, vault, object: Map::new() }
    }

    pub(super) fn put(&mut self, field: &str, value: impl Into<Value>) {
        let value = value.into();
        if !value.is_null() {
            self.object.insert(field.to_owned(), value);
        }
    }

    pub(super) fn time(&mut self, field: &str, time: impl Into<Option<Timestamp>>) {
        self.put(field, time.into().map(Timestamp::unix_ms));
    }

    pub(super) fn secret(&mut self, field: &str, plain: &str) {
        let sealed = self.vault.seal(&place(self.kind, self.id, field), plain);
        self.put(field, sealed);
    }

    pub(super) fn finish(self) -> String {
        Value::Object(self.object).to_string()
    }
}

/// What a secret is sealed for.
fn place(kind: Kind, id: u64, field: &str) -> String {
    format!("{} {id} {field}", kind.as_str())
}

pub(super) struct Reading<'a> {
    kind: Kind,
    id: u64,
    vault: &'a Vault,
    object: Map<String, Value>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(document: &Document, vault: &'a Vault) -> Result<Self, BadDocument> {
        let (kind, id) = (document.kind, document.id);
        let bad = || BadDocument { kind, id, field: "the document".into(), cause: None };
        match serde_json::from_str(&document.text) {
            Ok(Value::Object(object)) => Ok(Reading { kind, id, vault, object }),
            _ => Err(bad()),
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// A field that must be there, read by `read`.
    pub(super) fn get<T>(
        &self,
        field: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, BadDocument> {
        self.object.get(field).and_then(read).ok_or_else(|| self.bad(field, None))
    }

    /// A field that may be missing; what is there must be legal.
    pub(super) fn maybe<T>(
        &self,
        field: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, BadDocument> {
        if self.object.contains_key(field) { self.get(field, read).map(Some) } else { Ok(None) }
    }

    pub(super) fn text(&self, field: &str) -> Result<String, BadDocument> {
        self.get(field, text)
    }

    pub(super) fn switch(&self, field: &str) -> Result<bool, BadDocument> {
        self.get(field, Value::as_bool)
    }

    pub(super) fn time(&self, field: &str) -> Result<Timestamp, BadDocument> {
        self.get(field, time)
    }

    pub(super) fn secret(&self, field: &str) -> Result<String, BadDocument> {
        self.maybe_secret(field)?.ok_or_else(|| self.bad(field, None))
    }

    pub(super) fn maybe_secret(&self, field: &str) -> Result<Option<String>, BadDocument> {
        let Some(sealed) = self.maybe(field, text)? else { return Ok(None) };
        let opened = self.vault.open(&place(self.kind, self.id, field), &sealed);
        opened.map(Some).map_err(|cause| self.bad(field, Some(cause)))
    }

    fn bad(&self, field: &str, cause: Option<NotOpened>) -> BadDocument {
        BadDocument { kind: self.kind, id: self.id, field: field.to_owned(), cause }
    }
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn time(value: &Value) -> Option<Timestamp> {
    value.as_u64().map(Timestamp::from_unix_ms)
}
