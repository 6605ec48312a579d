//! The configuration as the store in memory keeps it: one map for each noun.

use crate::audit::{AuditPage, AuditQuery, AuditRecord};
use crate::configuration::{
    Account, ApiKey, Change, Configuration, DescribedType, Destination, Route, Source,
};
use crate::replay::Replay;
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::id::{
    AccountId, ApiKeyId, AuditId, DestinationId, EventTypeId, ReplayId, RouteId, SourceId,
};
use postrider_core::limits::{AUDIT_RECORDS_MAX, REPLAYS_ENDED_MAX};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Settings {
    accounts: BTreeMap<AccountId, Account>,
    api_keys: BTreeMap<ApiKeyId, ApiKey>,
    sources: BTreeMap<SourceId, Source>,
    destinations: BTreeMap<DestinationId, Destination>,
    routes: BTreeMap<RouteId, Route>,
    event_types: BTreeMap<EventTypeId, DescribedType>,
    circuits: BTreeMap<DestinationId, CircuitRecord>,
    replays: BTreeMap<ReplayId, Replay>,
    audit: BTreeMap<AccountId, BTreeMap<AuditId, AuditRecord>>,
    greatest_id: u64,
}

impl Settings {
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::PutAccount(account) => {
                self.note_id(account.id.as_u64());
                self.accounts.insert(account.id, account);
            }
            Change::PutApiKey(key) => {
                self.note_id(key.id.as_u64());
                self.api_keys.insert(key.id, key);
            }
            Change::PutSource(source) => {
                self.note_id(source.id.as_u64());
                self.sources.insert(source.id, source);
            }
            Change::PutDestination(destination) => {
                self.note_id(destination.id.as_u64());
                self.destinations.insert(destination.id, *destination);
            }
            Change::PutRoute(route) => {
                self.note_id(route.id.as_u64());
                self.routes.insert(route.id, route);
            }
            Change::PutEventType(described) => {
                self.note_id(described.id.as_u64());
                self.event_types.insert(described.id, *described);
            }
            Change::DeleteEventType(id) => {
                self.event_types.remove(&id);
            }
            Change::DeleteAccount(id) => {
                self.accounts.remove(&id);
            }
            Change::DeleteApiKey(id) => {
                self.api_keys.remove(&id);
            }
            Change::DeleteSource(id) => {
                self.sources.remove(&id);
                self.routes.retain(|_, route| route.source != Some(id));
            }
            Change::DeleteDestination(id) => {
                self.destinations.remove(&id);
                self.circuits.remove(&id);
                self.routes.retain(|_, route| route.destination != id);
            }
            Change::DeleteRoute(id) => {
                self.routes.remove(&id);
            }
            Change::Record(record) => self.record(*record),
        }
    }

    /// All of it; what only a start must know is left at its default.
    pub(super) fn all(&self) -> Configuration {
        Configuration {
            accounts: self.accounts.values().cloned().collect(),
            api_keys: self.api_keys.values().cloned().collect(),
            sources: self.sources.values().cloned().collect(),
            destinations: self.destinations.values().cloned().collect(),
            routes: self.routes.values().cloned().collect(),
            event_types: self.event_types.values().cloned().collect(),
            circuits: self.circuits.iter().map(|(id, record)| (*id, *record)).collect(),
            ..Configuration::default()
        }
    }

    pub(super) fn keep_circuit(&mut self, destination: DestinationId, record: CircuitRecord) {
        if record.circuit == Circuit::Closed {
            self.circuits.remove(&destination);
        } else if self.destinations.contains_key(&destination) {
            self.circuits.insert(destination, record);
        }
    }

    pub(super) fn put_replay(&mut self, replay: Replay) {
        self.note_id(replay.id.as_u64());
        let account = replay.account;
        self.replays.insert(replay.id, replay);
        let ended = |found: &&Replay| found.account == account && found.state.is_final();
        let past: Vec<ReplayId> =
            self.replays.values().rev().filter(ended).skip(REPLAYS_ENDED_MAX).map(|found| found.id).collect();
        self.replays.retain(|id, _| !past.contains(id));
    }

    pub(super) fn record(&mut self, record: AuditRecord) {
        self.note_id(record.id.as_u64());
        let own = self.audit.entry(record.account).or_default();
        own.insert(record.id, record);
        while own.len() > AUDIT_RECORDS_MAX {
            own.pop_first();
        }
    }

    pub(super) fn audit(&self, query: &AuditQuery) -> AuditPage {
        let all = self.audit.values().flat_map(BTreeMap::values);
        let mut found: Vec<_> = all.filter(|record| query.matches(record)).cloned().collect();
        found.sort_unstable_by_key(|record| std::cmp::Reverse(record.id));
        AuditPage::cut(found, query.limit)
    }

    pub(super) fn replays(&self) -> Vec<Replay> {
        self.replays.values().cloned().collect()
    }

    pub(super) fn greatest_id(&self) -> u64 {
        self.greatest_id
    }

    fn note_id(&mut self, id: u64) {
        self.greatest_id = self.greatest_id.max(id);
    }
}
