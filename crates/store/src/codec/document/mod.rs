//! Configuration objects as stores keep them: one JSON document each, secrets sealed. A new setting is a line here
//! and none in any store.

mod account;
mod api_key;
mod destination;
mod event_type;
mod fields;
mod route;
mod signing;
mod source;
mod tls;

use crate::vault::{NotOpened, Vault};
use crate::{AuditRecord, Change, Configuration, session};
use fields::{Reading, Writing};
use postrider_core::id::{AccountId, ApiKeyId};
use ring::digest::{Context, SHA256};
use std::collections::BTreeSet;
use std::fmt;

/// What kind of object a document is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tenant.
    Account,
    /// A key to the API.
    ApiKey,
    /// Where events come in.
    Source,
    /// Where events go.
    Destination,
    /// Which events go where.
    Route,
    /// What events of a type must look like.
    EventType,
}

impl Kind {
    /// All of them, each after those that it refers to.
    pub const ALL: [Kind; 6] =
        [Kind::Account, Kind::ApiKey, Kind::Source, Kind::Destination, Kind::Route, Kind::EventType];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Account => "account",
            Kind::ApiKey => "api_key",
            Kind::Source => "source",
            Kind::Destination => "destination",
            Kind::Route => "route",
            Kind::EventType => "event_type",
        }
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// An object as a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it is.
    pub kind: Kind,
    /// Its id, unique among all kinds.
    pub id: u64,
    /// JSON.
    pub text: String,
}

/// What a change does to the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Makes or replaces one.
    Put(Document),
    /// Deletes one.
    Delete(Kind, u64),
    /// Deletes the routes whose document has this text in this field.
    DeleteRoutes(&'static str, String),
    /// Ends the sessions that began with a key.
    EndSessions(ApiKeyId),
    /// Adds a line to the audit log.
    Record(Box<AuditRecord>),
}

/// The edits that make up a change, in order.
pub fn edits(change: &Change, vault: &Vault) -> Vec<Edit> {
    let ended = session::ended_by(change).map(Edit::EndSessions);
    objects(change, vault).into_iter().chain(ended).collect()
}

fn objects(change: &Change, vault: &Vault) -> Vec<Edit> {
    let put = |kind, id, write: &dyn Fn(&mut Writing<'_>)| vec![Edit::Put(document(kind, id, vault, write))];
    match change {
        Change::PutAccount(put_in) => {
            put(Kind::Account, put_in.id.as_u64(), &|into| account::write(put_in, into))
        }
        Change::PutApiKey(put_in) => {
            put(Kind::ApiKey, put_in.id.as_u64(), &|into| api_key::write(put_in, into))
        }
        Change::PutSource(put_in) => {
            put(Kind::Source, put_in.id.as_u64(), &|into| source::write(put_in, into))
        }
        Change::PutDestination(put_in) => {
            put(Kind::Destination, put_in.id.as_u64(), &|into| destination::write(put_in, into))
        }
        Change::PutRoute(put_in) => put(Kind::Route, put_in.id.as_u64(), &|into| route::write(put_in, into)),
        Change::PutEventType(put_in) => {
            put(Kind::EventType, put_in.id.as_u64(), &|into| event_type::write(put_in, into))
        }
        Change::DeleteEventType(id) => vec![Edit::Delete(Kind::EventType, id.as_u64())],
        Change::DeleteAccount(id) => vec![Edit::Delete(Kind::Account, id.as_u64())],
        Change::DeleteApiKey(id) => vec![Edit::Delete(Kind::ApiKey, id.as_u64())],
        Change::DeleteSource(id) => {
            vec![Edit::DeleteRoutes(route::SOURCE, id.to_string()), Edit::Delete(Kind::Source, id.as_u64())]
        }
        Change::DeleteDestination(id) => vec![
            Edit::DeleteRoutes(route::DESTINATION, id.to_string()),
            Edit::Delete(Kind::Destination, id.as_u64()),
        ],
        Change::DeleteRoute(id) => vec![Edit::Delete(Kind::Route, id.as_u64())],
        Change::Record(record) => vec![Edit::Record(record.clone())],
    }
}

/// The accounts in whose audit logs changes are noted, each once.
pub fn accounts_noted(changes: &[Change]) -> BTreeSet<AccountId> {
    let noted = |change: &Change| match change {
        Change::Record(record) => Some(record.account),
        _ => None,
    };
    changes.iter().filter_map(noted).collect()
}

fn document(kind: Kind, id: u64, vault: &Vault, write: &dyn Fn(&mut Writing<'_>)) -> Document {
    let mut into = Writing::new(kind, id, vault);
    write(&mut into);
    Document { kind, id, text: into.finish() }
}

/// What an object that is put is called, and a hash of all it is, its secrets included: the same in every store,
/// whatever key seals it there.
pub fn fingerprint(change: &Change) -> (String, String) {
    let vault = Vault::repeatable();
    let mut name = String::new();
    let mut hash = Context::new(&SHA256);
    for edit in edits(change, &vault) {
        if let Edit::Put(Document { kind, id, text }) = edit {
            name = format!("{} {id}", kind.as_str());
            hash.update(text.as_bytes());
        }
    }
    let hash = hash.finish();
    (name, hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Why a document is not one that this version has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadDocument {
    kind: Kind,
    id: u64,
    field: String,
    cause: Option<NotOpened>,
}

impl fmt::Display for BadDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, id, field) = (self.kind.as_str(), self.id, &self.field);
        match self.cause {
            None => write!(f, "{field} of {kind} {id} in the database is not what this version writes"),
            Some(NotOpened::OtherKey) => write!(
                f,
                "{field} of {kind} {id} was sealed with another key; give the key of that time as secret_key, or put its secret.key file back"
            ),
            Some(NotOpened::Changed) => write!(f, "{field} of {kind} {id} was changed in the database"),
        }
    }
}

impl std::error::Error for BadDocument {}

impl Change {
    /// The change that puts the object of a document.
    pub fn put(document: &Document, vault: &Vault) -> Result<Self, BadDocument> {
        let from = Reading::new(document, vault)?;
        Ok(match document.kind {
            Kind::Account => Change::PutAccount(account::read(&from)?),
            Kind::ApiKey => Change::PutApiKey(api_key::read(&from)?),
            Kind::Source => Change::PutSource(source::read(&from)?),
            Kind::Destination => Change::PutDestination(Box::new(destination::read(&from)?)),
            Kind::Route => Change::PutRoute(route::read(&from)?),
            Kind::EventType => Change::PutEventType(Box::new(event_type::read(&from)?)),
        })
    }
}

impl Configuration {
    /// Adds the object of a document. In order of their ids, those of an account come out oldest first.
    pub fn add(&mut self, document: &Document, vault: &Vault) -> Result<(), BadDocument> {
        match Change::put(document, vault)? {
            Change::PutAccount(account) => self.accounts.push(account),
            Change::PutApiKey(key) => self.api_keys.push(key),
            Change::PutSource(source) => self.sources.push(source),
            Change::PutDestination(destination) => self.destinations.push(*destination),
            Change::PutRoute(route) => self.routes.push(route),
            Change::PutEventType(event_type) => self.event_types.push(*event_type),
            _ => unreachable!("a document is of something that is put"),
        }
        Ok(())
    }
}
