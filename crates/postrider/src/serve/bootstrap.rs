//! What exists without anyone making it: a first account with a source, and the destinations of the file.

use crate::config::{Config, ListedDestination};
use crate::serve::admin_key::random_key;
use anyhow::{Context, anyhow};
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_engine::send::SigningSecret;
use postrider_engine::{Catalog, ChangeError, Engine};
use postrider_store::{Account, Change, Destination, Route, Source};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

/// What start-up found or made.
#[derive(Clone)]
pub(crate) struct FirstThings {
    /// The account that an admin key acts for unless told otherwise.
    pub(crate) account: AccountId,
    /// A source to try things with.
    pub(crate) source: Option<Arc<Source>>,
    /// The source behind `/ingress`, when the file lists destinations.
    pub(crate) ingress: Option<SourceId>,
    /// The source behind `/webhooks`, when its secret is set.
    pub(crate) webhooks: Option<SourceId>,
}

const INGRESS: &str = "ingress";
const WEBHOOKS: &str = "webhooks";

pub(crate) async fn first_things(engine: &Arc<Engine>, config: &Config) -> anyhow::Result<FirstThings> {
    let made = engine.change(|catalog| Ok::<_, Infallible>((decide(engine, catalog, config), ()))).await;
    made.map_err(|error| match error {
        ChangeError::Store(error) => anyhow!(error).context("failed to create the first account"),
        ChangeError::Refused(never) => match never {},
    })?;
    let catalog = engine.catalog();
    let account = catalog.accounts().first().context("the first account is missing")?.id;
    let sources = catalog.sources(account);
    let named = |name: &str| sources.iter().find(|source| source.name == name).map(|source| source.id);
    let is_door = |source: &Source| source.name == INGRESS || source.name == WEBHOOKS;
    Ok(FirstThings {
        account,
        source: sources.iter().find(|source| !is_door(source) && source.active).cloned(),
        ingress: named(INGRESS).filter(|_| !config.destinations.is_empty()),
        webhooks: named(WEBHOOKS).filter(|_| config.webhooks_secret.is_some()),
    })
}

fn decide(engine: &Engine, catalog: &Catalog, config: &Config) -> Vec<Change> {
    let mut changes = Vec::new();
    let account = match catalog.accounts().first() {
        Some(account) => account.id,
        None => {
            let id = AccountId::from_u64(engine.next_id());
            changes.push(Change::PutAccount(Account::new(id, "default".into(), engine.clock().now())));
            changes.push(Change::PutSource(new_source(engine, id, "default")));
            id
        }
    };
    reconcile(engine, catalog, account, &config.destinations, &mut changes);
    let known = catalog.sources(account).iter().any(|source| source.name == WEBHOOKS);
    if config.webhooks_secret.is_some() && !known {
        changes.push(Change::PutSource(new_source(engine, account, WEBHOOKS)));
    }
    changes
}

/// Brings the destinations behind `/ingress` in line with the file. One that is no longer listed is switched
/// off, not deleted: it keeps what it is owed.
fn reconcile(
    engine: &Engine,
    catalog: &Catalog,
    account: AccountId,
    listed: &[ListedDestination],
    changes: &mut Vec<Change>,
) {
    let known_source = catalog.sources(account).into_iter().find(|source| source.name == INGRESS);
    let source = match &known_source {
        Some(source) => source.id,
        None if listed.is_empty() => return,
        None => {
            let source = new_source(engine, account, INGRESS);
            let id = source.id;
            changes.push(Change::PutSource(source));
            id
        }
    };
    let routed: Vec<DestinationId> = catalog
        .routes(account)
        .iter()
        .filter(|route| route.source == Some(source))
        .map(|route| route.destination)
        .collect();
    let known = routed.iter().filter_map(|id| catalog.destination(account, *id));
    let mut known: BTreeMap<String, &Arc<Destination>> =
        known.map(|found| (found.name.clone(), found)).collect();
    for wanted in listed {
        match known.remove(&wanted.name) {
            Some(found) => {
                let found = Destination::clone(found);
                changes.push(Change::PutDestination(Box::new(listed_as(wanted, found))));
            }
            None => changes.extend(new_destination(engine, account, source, wanted)),
        }
    }
    for gone in known.into_values().filter(|gone| gone.active) {
        let disabled_reason = Some("It is no longer listed in the configuration file.".into());
        let off = Destination { active: false, disabled_reason, ..Destination::clone(gone) };
        changes.push(Change::PutDestination(Box::new(off)));
    }
}

/// What the file says goes over what is known. The rest stays, a pause by an operator included.
fn listed_as(wanted: &ListedDestination, found: Destination) -> Destination {
    Destination {
        name: wanted.name.clone(),
        url: wanted.url.clone(),
        max_concurrency: wanted.max_concurrency,
        timeout: wanted.timeout,
        retry_policy: wanted.retry_policy.clone(),
        rate_limit: wanted.rate_limit,
        circuit: wanted.circuit,
        adaptive: wanted.adaptive,
        active: true,
        disabled_reason: None,
        ..found
    }
}

fn new_destination(
    engine: &Engine,
    account: AccountId,
    source: SourceId,
    wanted: &ListedDestination,
) -> [Change; 2] {
    let id = DestinationId::from_u64(engine.next_id());
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    let route = RouteId::from_u64(engine.next_id());
    let route = Route { source: Some(source), ..Route::new(route, account, id, engine.clock().now()) };
    let (name, url, secret) = (wanted.name.clone(), wanted.url.clone(), SigningSecret::text_of(bytes));
    let plain = Destination::new(id, account, name, url, secret, engine.clock().now());
    [Change::PutDestination(Box::new(listed_as(wanted, plain))), Change::PutRoute(route)]
}

/// A source with a random token and no further check of its senders.
pub(crate) fn new_source(engine: &Engine, account: AccountId, name: &str) -> Source {
    let id = SourceId::from_u64(engine.next_id());
    Source::new(id, account, name.to_owned(), random_key("src_"), engine.clock().now())
}
