//! The configuration in memory, by what it is looked up by. Changed only after the store has the change.

mod routes;

use crate::event_types::{EventTypes, KnownType};
use crate::filter::Filter;
use crate::known_key::KnownKey;
use crate::routing::{Match, Order, Plan};
use crate::send::{Rewrite, Target};
use crate::verify::Verifier;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, RouteId, SourceId};
use postrider_core::map::IdMap;
use postrider_core::retry::RetryPolicy;
use postrider_core::time::Timestamp;
use postrider_store::{
    Account, ApiKey, Change, Configuration, Destination, EventContent, Route, Shards, Source,
};
use routes::Routes;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Everything configured.
#[derive(Default)]
pub struct Catalog {
    accounts: IdMap<AccountId, Account>,
    keys_by_hash: HashMap<[u8; 32], Arc<KnownKey>>,
    sources: IdMap<SourceId, Arc<Source>>,
    sources_by_token: HashMap<String, SourceId>,
    verifiers: IdMap<SourceId, Arc<Verifier>>,
    destinations: IdMap<DestinationId, Known>,
    routes: Routes,
    event_types: EventTypes,
}

/// An active source and what checks its senders, when they must sign.
pub struct Entrance {
    /// Where events come in.
    pub source: Arc<Source>,
    /// `None`: whoever knows the URL may send.
    pub verifier: Option<Arc<Verifier>>,
}

/// A destination with what is made of its settings once and not for each event.
pub(crate) struct Known {
    destination: Arc<Destination>,
    target: Arc<Target>,
    order: Order,
}

/// A change with its expressions compiled, which takes too long to do while nobody can read the catalog.
pub(crate) enum Prepared {
    Destination(Known),
    Route(Arc<Plan>),
    EventType(Arc<KnownType>),
    Plain(Box<Change>),
}

impl From<Change> for Prepared {
    fn from(change: Change) -> Self {
        match change {
            Change::PutDestination(destination) => Prepared::Destination(Known {
                target: Arc::new(Target::new(&destination)),
                order: Order::new(&destination),
                destination: Arc::from(destination),
            }),
            Change::PutRoute(route) => Prepared::Route(Arc::new(Plan::new(route))),
            Change::PutEventType(described) => Prepared::EventType(Arc::new(KnownType::new(*described))),
            plain => Prepared::Plain(Box::new(plain)),
        }
    }
}

impl Catalog {
    pub(crate) fn new(configuration: Configuration) -> Self {
        let mut catalog = Catalog::default();
        configuration.accounts.into_iter().for_each(|account| catalog.apply(Change::PutAccount(account)));
        configuration.api_keys.into_iter().for_each(|key| catalog.apply(Change::PutApiKey(key)));
        configuration.sources.into_iter().for_each(|source| catalog.apply(Change::PutSource(source)));
        for destination in configuration.destinations {
            catalog.apply(Change::PutDestination(Box::new(destination)));
        }
        configuration.routes.into_iter().for_each(|route| catalog.apply(Change::PutRoute(route)));
        for described in configuration.event_types {
            catalog.apply(Change::PutEventType(Box::new(described)));
        }
        catalog
    }

    pub(crate) fn apply(&mut self, change: impl Into<Prepared>) {
        let change = match change.into() {
            Prepared::Destination(known) => {
                return drop(self.destinations.insert(known.destination.id, known));
            }
            Prepared::Route(plan) => return self.routes.put(plan),
            Prepared::EventType(known) => return self.event_types.put(known),
            Prepared::Plain(change) => *change,
        };
        match change {
            Change::PutAccount(account) => drop(self.accounts.insert(account.id, account)),
            Change::PutApiKey(key) => self.put_key(key),
            Change::DeleteApiKey(id) => self.keys_by_hash.retain(|_, known| known.key.id != id),
            Change::DeleteAccount(id) => drop(self.accounts.remove(&id)),
            Change::PutSource(source) => {
                self.forget_token(source.id);
                self.sources_by_token.insert(source.token.clone(), source.id);
                match verifier(&source) {
                    Some(verifier) => drop(self.verifiers.insert(source.id, Arc::new(verifier))),
                    None => drop(self.verifiers.remove(&source.id)),
                }
                self.sources.insert(source.id, Arc::new(source));
            }
            Change::PutDestination(_) | Change::PutRoute(_) | Change::PutEventType(_) => {
                unreachable!("these are prepared")
            }
            Change::DeleteSource(id) => {
                self.forget_token(id);
                self.verifiers.remove(&id);
                if let Some(gone) = self.sources.remove(&id) {
                    self.routes.remove_those(gone.account, |route| route.source == Some(id));
                }
            }
            Change::DeleteDestination(id) => {
                if let Some(gone) = self.destinations.remove(&id) {
                    let account = gone.destination.account;
                    self.routes.remove_those(account, |route| route.destination == id);
                }
            }
            Change::DeleteRoute(id) => self.routes.remove(id),
            Change::DeleteEventType(id) => self.event_types.remove(id),
            // It tells of the changes beside it, and is asked for in the store.
            Change::Record(_) => {}
        }
    }

    /// A change of a key does not forget when it was used.
    fn put_key(&mut self, key: ApiKey) {
        let known = Arc::new(KnownKey::new(key));
        if let Some(before) = self.keys_by_hash.insert(known.key.hash, Arc::clone(&known)) {
            before.hand_over(&known);
        }
    }

    fn forget_token(&mut self, id: SourceId) {
        if let Some(known) = self.sources.get(&id) {
            self.sources_by_token.remove(&known.token);
        }
    }

    /// The entrance of an ingest URL.
    pub fn entrance_by_token(&self, token: &str) -> Option<Entrance> {
        self.open_entrance(self.sources.get(self.sources_by_token.get(token)?)?)
    }

    /// The entrance of a source that no URL names.
    pub fn entrance(&self, account: AccountId, source: SourceId) -> Option<Entrance> {
        self.open_entrance(self.source(account, source)?)
    }

    fn open_entrance(&self, source: &Arc<Source>) -> Option<Entrance> {
        let verifier = self.verifiers.get(&source.id).cloned();
        source.active.then(|| Entrance { source: Arc::clone(source), verifier })
    }

    /// The routes that take an event of this source (or of none, if it is sent through the API) and type, unless their
    /// filter does not let it pass. A destination is owed an event once, by the first. Expressions are not evaluated
    /// here, so that no change waits for them; so a route with a filter lets those behind it stand.
    pub(crate) fn matching(
        &self,
        account: AccountId,
        source: Option<SourceId>,
        event_type: Option<&EventType>,
    ) -> Vec<Match> {
        let mut matching: Vec<Match> = Vec::new();
        let mut seen = postrider_core::map::IdSet::default();
        for plan in self.routes.of_source(account, source) {
            let route = &plan.route;
            let takes = plan.mismatch(source, event_type).is_none();
            let first = match plan.filter {
                None => takes && seen.insert(route.destination),
                Some(_) => takes && !seen.contains(&route.destination),
            };
            if first {
                matching.push(Match { plan: Arc::clone(plan), order: self.order(route.destination) });
            }
        }
        matching
    }

    /// The routes of an account, oldest first.
    pub(crate) fn plans(&self, account: AccountId) -> impl Iterator<Item = &Arc<Plan>> {
        self.routes.of_account(account)
    }

    /// How deliveries to a destination are ordered.
    pub(crate) fn order(&self, id: DestinationId) -> Order {
        self.destinations.get(&id).map_or(Order::None, |known| known.order.clone())
    }

    /// The key with this hash, while it counts.
    pub fn api_key(&self, hash: &[u8; 32], now: Timestamp) -> Option<&Arc<KnownKey>> {
        self.keys_by_hash.get(hash).filter(|known| known.key.counts_at(now))
    }

    /// Whether a key still counts.
    pub fn key_counts(&self, id: ApiKeyId, now: Timestamp) -> bool {
        self.keys_by_hash.values().any(|known| known.key.id == id && known.key.counts_at(now))
    }

    /// What a key is called.
    pub fn key_name(&self, id: ApiKeyId) -> Option<String> {
        let found = self.keys_by_hash.values().find(|known| known.key.id == id);
        found.map(|known| known.key.name.clone())
    }

    /// All keys of an account, those that no longer count included, oldest first.
    pub fn api_keys(&self, account: AccountId) -> Vec<ApiKey> {
        let of_account = self.keys_by_hash.values().filter(|known| known.key.account == account);
        let mut keys: Vec<_> = of_account.map(|known| known.as_used()).collect();
        keys.sort_by_key(|key| key.id);
        keys
    }

    /// The keys that were used since the store was told so, as it should know them.
    pub fn keys_used(&self) -> Vec<ApiKey> {
        let used = self.keys_by_hash.values().map(|known| (known, known.as_used()));
        used.filter(|(known, used)| known.key != *used).map(|(_, used)| used).collect()
    }

    /// An account.
    pub fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.get(&id)
    }

    /// The weights of all accounts together.
    pub(crate) fn total_weight(&self) -> u64 {
        self.accounts.values().map(|account| u64::from(account.weight.get())).sum()
    }

    /// An account may have its events shown for less time than they are kept.
    pub(crate) fn shown_since(&self, account: AccountId, now: Timestamp) -> Option<Timestamp> {
        let days = self.account(account)?.retention_days?;
        Some(now.before(DAY * days))
    }

    /// All accounts, oldest first.
    pub fn accounts(&self) -> Vec<Account> {
        let mut accounts: Vec<_> = self.accounts.values().cloned().collect();
        accounts.sort_by_key(|account| account.id);
        accounts
    }

    /// A source of an account.
    pub fn source(&self, account: AccountId, id: SourceId) -> Option<&Arc<Source>> {
        self.sources.get(&id).filter(|source| source.account == account)
    }

    /// All sources of an account, oldest first.
    pub fn sources(&self, account: AccountId) -> Vec<Arc<Source>> {
        let mut sources: Vec<_> =
            self.sources.values().filter(|found| found.account == account).cloned().collect();
        sources.sort_by_key(|source| source.id);
        sources
    }

    /// A destination of an account.
    pub fn destination(&self, account: AccountId, id: DestinationId) -> Option<&Arc<Destination>> {
        self.destinations.get(&id).map(|known| &known.destination).filter(|found| found.account == account)
    }

    /// All destinations of an account, oldest first.
    pub fn destinations(&self, account: AccountId) -> Vec<Arc<Destination>> {
        let all = self.all_destinations();
        let mut found: Vec<_> = all.filter(|found| found.account == account).cloned().collect();
        found.sort_by_key(|destination| destination.id);
        found
    }

    /// Whether an account has so many destinations. While there are fewer in all, none is looked at.
    pub fn has_destinations(&self, account: AccountId, count: usize) -> bool {
        let mut own = self.all_destinations().filter(|found| found.account == account);
        self.destinations.len() >= count && own.nth(count.saturating_sub(1)).is_some()
    }

    /// Whether an account has so many routes.
    pub fn has_routes(&self, account: AccountId, count: usize) -> bool {
        self.plans(account).nth(count.saturating_sub(1)).is_some()
    }

    /// Whether an account has so many sources.
    pub fn has_sources(&self, account: AccountId, count: usize) -> bool {
        let mut own = self.sources.values().filter(|found| found.account == account);
        self.sources.len() >= count && own.nth(count.saturating_sub(1)).is_some()
    }

    /// Whether an account has so many keys, those that no longer count included.
    pub fn has_api_keys(&self, account: AccountId, count: usize) -> bool {
        let mut own = self.keys_by_hash.values().filter(|known| known.key.account == account);
        self.keys_by_hash.len() >= count && own.nth(count.saturating_sub(1)).is_some()
    }

    /// A destination of any account.
    pub(crate) fn any_destination(&self, id: DestinationId) -> Option<&Arc<Destination>> {
        self.destinations.get(&id).map(|known| &known.destination)
    }

    /// How many destinations there are in these shards.
    pub fn destination_count(&self, shards: Shards) -> usize {
        match shards {
            Shards::ALL => self.destinations.len(),
            part => self.destination_ids().filter(|id| part.own(*id)).count(),
        }
    }

    /// Of all accounts. Nothing but the ids is looked at, so that very many cost little.
    pub(crate) fn destination_ids(&self) -> impl Iterator<Item = DestinationId> {
        self.destinations.keys().copied()
    }

    pub(crate) fn all_destinations(&self) -> impl Iterator<Item = &Arc<Destination>> {
        self.destinations.values().map(|known| &known.destination)
    }

    /// A route of an account.
    pub fn route(&self, account: AccountId, id: RouteId) -> Option<&Arc<Route>> {
        self.routes.get(id).map(|plan| &plan.route).filter(|route| route.account == account)
    }

    /// The event types that accounts have described.
    pub fn event_types(&self) -> &EventTypes {
        &self.event_types
    }

    /// All routes of an account, oldest first.
    pub fn routes(&self, account: AccountId) -> Vec<Arc<Route>> {
        self.plans(account).map(|plan| Arc::clone(&plan.route)).collect()
    }

    /// Events that a route's filter did not let pass because it failed for them, since the route was last changed or
    /// the gateway started. `None` when there is no filter.
    pub fn filter_errors(&self, id: RouteId) -> Option<u64> {
        self.routes.get(id)?.filter.as_ref().map(Filter::failures)
    }

    /// What the route of a delivery has sent in the place of its event, if the route is still there.
    pub(crate) fn rewrite(&self, route: RouteId, content: &EventContent) -> Option<Rewrite> {
        let plan = Arc::clone(self.routes.transforming(route)?);
        let source =
            content.origin.source().and_then(|id| self.sources.get(&id)).map(|source| source.name.clone());
        Some(Rewrite { plan, source: source.unwrap_or_default() })
    }

    pub(crate) fn target(&self, id: DestinationId) -> Option<Arc<Target>> {
        self.destinations.get(&id).map(|known| Arc::clone(&known.target))
    }

    /// The route's own policy, else its destination's, else the default.
    pub(crate) fn retry_policy(&self, route: RouteId, destination: DestinationId) -> RetryPolicy {
        let by_route = self.routes.get(route).and_then(|plan| plan.route.retry_policy.clone());
        let known = self.destinations.get(&destination);
        let by_destination = || known.and_then(|known| known.destination.retry_policy.clone());
        by_route.or_else(by_destination).unwrap_or_default()
    }
}

/// One that was written by a version that knew more lets nobody in.
fn verifier(source: &Source) -> Option<Verifier> {
    let verification = source.verification.as_ref()?;
    let read = Verifier::new(source.provider.as_deref(), &verification.config, &verification.secrets);
    let said = |bad: &_| tracing::warn!(of = %source.id, %bad, "stored signature verification is invalid; its source refuses every request");
    Some(read.inspect_err(said).unwrap_or_default())
}

#[cfg(test)]
mod tests;
