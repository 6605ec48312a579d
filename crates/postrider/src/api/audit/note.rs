//! Notes changes as they are made: those of the configuration in the transaction that makes them, others after them.

use super::facts::{Facts, facts};
use crate::api::App;
use crate::api::auth::Caller;
use crate::api::error::ApiError;
use postrider_core::id::{AccountId, ApiKeyId, AuditId};
use postrider_engine::Catalog;
use postrider_store::{AuditRecord, Author, Change, Way};

/// What a record may be about.
pub(super) const NOUNS: [&str; 9] =
    ["account", "api_key", "source", "destination", "route", "event_type", "event", "dead_letter", "replay"];

/// Who makes a change, and by which call.
#[derive(Clone, Copy)]
pub(crate) struct By {
    pub(super) account: AccountId,
    key: Option<ApiKeyId>,
    way: Way,
    call: (&'static str, &'static str),
}

impl By {
    /// Somebody at this machine, who makes this account.
    pub(crate) fn newcomer(account: AccountId) -> Self {
        By { account, key: None, way: Way::Machine, call: ("POST", "/v1/accounts") }
    }
}

impl From<Caller> for By {
    fn from(caller: Caller) -> Self {
        By { account: caller.account, key: caller.key, way: caller.way, call: caller.call }
    }
}

impl App {
    /// Changes the configuration and notes who did, all or nothing.
    pub(crate) async fn change<T>(
        &self,
        by: impl Into<By>,
        decide: impl FnOnce(&Catalog) -> Result<(Vec<Change>, T), ApiError>,
    ) -> Result<T, ApiError> {
        let by = by.into();
        let decide = |catalog: &Catalog| {
            let (mut changes, value) = decide(catalog)?;
            let now = self.engine.clock().now();
            let noted = changes.iter().filter(|change| is_told_of(change, &changes));
            let noted: Vec<Facts> =
                noted.filter_map(|change| facts(catalog, change, by, self.first.account, now)).collect();
            let records = noted.into_iter().map(|facts| self.record(catalog, by, facts));
            changes.extend(records.map(|record| Change::Record(Box::new(record))));
            Ok::<_, ApiError>((changes, value))
        };
        Ok(self.engine.change(decide).await?)
    }

    /// Notes what was done beside the configuration. It is done already: that it could not be noted is for the operator to
    /// know, not for the caller.
    pub(crate) async fn note(&self, caller: Caller, noun: &'static str, object: Option<String>) {
        debug_assert!(NOUNS.contains(&noun), "{noun} cannot be asked for");
        let facts = Facts { account: caller.account, noun, object, before: None, after: None };
        let record = self.record(&self.engine.catalog(), caller.into(), facts);
        if let Err(error) = self.engine.record(record).await {
            tracing::warn!(%error, "failed to write a change to the audit log");
        }
    }

    fn record(&self, catalog: &Catalog, by: By, facts: Facts) -> AuditRecord {
        AuditRecord {
            id: AuditId::from_u64(self.engine.next_id()),
            account: facts.account,
            at: self.engine.clock().now(),
            author: Author {
                way: by.way,
                key: by.key,
                key_name: by.key.and_then(|key| catalog.key_name(key)),
            },
            call: format!("{} {}", by.call.0, by.call.1),
            noun: facts.noun.to_owned(),
            object: facts.object,
            before: facts.before.map(|fields| serde_json::Value::Object(fields).to_string()),
            after: facts.after.map(|fields| serde_json::Value::Object(fields).to_string()),
        }
    }
}

/// What goes with its account is told of by the account.
fn is_told_of(change: &Change, all: &[Change]) -> bool {
    let whole = all.iter().any(|other| matches!(other, Change::DeleteAccount(_)));
    !whole || matches!(change, Change::DeleteAccount(_))
}
