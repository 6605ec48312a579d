//! What an operator or tenant configures: accounts, keys, sources, destinations, routes.

use crate::headers::Headers;
use postrider_core::account::Weight;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::Priority;
use postrider_core::destination::{
    CircuitPolicy, MaxConcurrency, OnDeadLetter, Ordering, RateLimit, TimeoutSeconds,
};
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::PriorityRule;
use postrider_core::retry::RetryPolicy;
use postrider_core::scheduler::{Settings, Share};
use postrider_core::time::Timestamp;
use std::fmt;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// Its name.
    pub name: String,
    /// Its share beside the other accounts.
    pub weight: Weight,
    /// Attempts in flight at once, over all its destinations.
    pub max_in_flight: Option<u32>,
    /// Deliveries it may be owed before its events are refused.
    pub max_pending: Option<u64>,
    /// The same in bytes of their events' bodies.
    pub max_pending_bytes: Option<u64>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Account {
    /// Its share of the slots.
    pub fn share(&self) -> Share {
        Share { weight: self.weight, max_in_flight: self.max_in_flight }
    }

    /// One with the usual share and no limits.
    pub fn new(id: AccountId, name: String, created_at: Timestamp) -> Self {
        Account {
            id,
            name,
            weight: Weight::default(),
            max_in_flight: None,
            max_pending: None,
            max_pending_bytes: None,
            created_at,
        }
    }
}

/// A key to the API. Only a hash of it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// The first characters, for people to tell keys apart.
    pub prefix: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
}

/// Where events come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its id.
    pub id: SourceId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// The secret part of its ingest URL.
    pub token: String,
    /// What senders must show.
    pub auth: SourceAuth,
    /// Which provider sends here, if known.
    pub provider: Option<String>,
    /// An inactive source answers as if it did not exist.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What senders must show.
#[derive(Clone, PartialEq, Eq)]
pub enum SourceAuth {
    /// Nothing but the token in the URL.
    None,
    /// This value in this header.
    SharedSecret {
        /// Header name.
        header: String,
        /// Its value.
        secret: String,
    },
}

/// Where events go.
#[derive(Clone, PartialEq)]
pub struct Destination {
    /// Its id.
    pub id: DestinationId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// The URL that is posted to.
    pub url: String,
    /// Attempts in flight at once.
    pub max_concurrency: MaxConcurrency,
    /// The one deadline of an attempt.
    pub timeout: TimeoutSeconds,
    /// When failed deliveries are due again; a route's own policy stands above it.
    pub retry_policy: Option<RetryPolicy>,
    /// How often it may be sent to; as often as there is something when `None`.
    pub rate_limit: Option<RateLimit>,
    /// In which order it gets its events.
    pub ordering: Ordering,
    /// The CEL expression for the key of [`Ordering::ByKey`].
    pub ordering_key: Option<String>,
    /// What becomes of an ordered line when its head is given up on.
    pub on_dead_letter: OnDeadLetter,
    /// Whether fewer attempts than `max_concurrency` are made at once while it struggles.
    pub adaptive: bool,
    /// When it is left alone, and for how long.
    pub circuit: CircuitPolicy,
    /// An operator has stopped it for a while; it keeps what it is owed and is sent nothing.
    pub paused: bool,
    /// An inactive destination keeps what it is owed and is sent nothing.
    pub active: bool,
    /// Why it is not active, when the gateway knows.
    pub disabled_reason: Option<String>,
    /// Credentials that the receiver wants.
    pub auth: Option<DestinationAuth>,
    /// Further headers.
    pub custom_headers: Headers,
    /// The Standard Webhooks secret, `whsec_…`.
    pub signing_secret: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Destination {
    /// What the scheduler must know of it.
    pub fn settings(&self, hold_until: Timestamp) -> Settings {
        Settings {
            account: self.account,
            max_concurrency: self.max_concurrency,
            adaptive: self.adaptive,
            rate_limit: self.rate_limit,
            ordering: self.ordering,
            circuit: self.circuit,
            paused: self.paused || !self.active,
            hold_until,
        }
    }

    /// One that is active, with every setting at its default.
    pub fn new(
        id: DestinationId,
        account: AccountId,
        name: String,
        url: String,
        signing_secret: String,
        created_at: Timestamp,
    ) -> Self {
        Destination {
            id,
            account,
            name,
            url,
            max_concurrency: MaxConcurrency::default(),
            timeout: TimeoutSeconds::default(),
            retry_policy: None,
            rate_limit: None,
            ordering: Ordering::default(),
            ordering_key: None,
            on_dead_letter: OnDeadLetter::default(),
            adaptive: true,
            circuit: CircuitPolicy::default(),
            paused: false,
            active: true,
            disabled_reason: None,
            auth: None,
            custom_headers: Headers::default(),
            signing_secret,
            created_at,
        }
    }
}

/// Credentials that a receiver wants.
#[derive(Clone, PartialEq, Eq)]
pub enum DestinationAuth {
    /// `Authorization: Bearer …`.
    Bearer {
        /// The token.
        token: String,
    },
    /// A header of the receiver's choice.
    Header {
        /// Header name.
        header: String,
        /// Its value.
        value: String,
    },
}

/// Which events of which source go to which destination.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Its id.
    pub id: RouteId,
    /// Whose it is.
    pub account: AccountId,
    /// Only events of this source; of all the account's sources when `None`.
    pub source: Option<SourceId>,
    /// Where to.
    pub destination: DestinationId,
    /// Which types.
    pub pattern: EventPattern,
    /// Only events for which this CEL expression holds.
    pub filter: Option<String>,
    /// The CEL expression for what is sent in the place of the event.
    pub transform: Option<String>,
    /// How urgent, unless a rule says otherwise.
    pub priority: Priority,
    /// The first that matches an event gives its priority.
    pub priority_rules: Vec<PriorityRule>,
    /// Above the destination's own policy.
    pub retry_policy: Option<RetryPolicy>,
    /// An inactive route matches nothing.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Route {
    /// One that is active and takes every event of the account.
    pub fn new(id: RouteId, account: AccountId, destination: DestinationId, created_at: Timestamp) -> Self {
        Route {
            id,
            account,
            source: None,
            destination,
            pattern: EventPattern::everything(),
            filter: None,
            transform: None,
            priority: Priority::Normal,
            priority_rules: Vec::new(),
            retry_policy: None,
            active: true,
            created_at,
        }
    }
}

/// One change. Putting what exists replaces it.
#[derive(Clone, Debug)]
pub enum Change {
    /// Makes or replaces.
    PutAccount(Account),
    /// Makes or replaces.
    PutApiKey(ApiKey),
    /// Makes or replaces.
    PutSource(Source),
    /// Makes or replaces.
    PutDestination(Box<Destination>),
    /// Makes or replaces.
    PutRoute(Route),
    /// Deletes it and the routes from it.
    DeleteSource(SourceId),
    /// Deletes it and the routes to it. What it was owed waits to be buried.
    DeleteDestination(DestinationId),
    /// Deletes it.
    DeleteRoute(RouteId),
}

/// All of it, and what a starting engine must know.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// Tenants.
    pub accounts: Vec<Account>,
    /// Keys, the revoked included.
    pub api_keys: Vec<ApiKey>,
    /// Sources.
    pub sources: Vec<Source>,
    /// Destinations.
    pub destinations: Vec<Destination>,
    /// Routes.
    pub routes: Vec<Route>,
    /// Where circuits stand that are not closed.
    pub circuits: Vec<(DestinationId, CircuitRecord)>,
    /// New ids must be greater than this.
    pub id_floor: u64,
    /// The last run did not stop in order, so requests of it may still run at receivers.
    pub unclean_stop: bool,
}

// Secrets never reach a log, not even by way of `{:?}`.

impl fmt::Debug for SourceAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceAuth::None => f.write_str("None"),
            SourceAuth::SharedSecret { header, .. } => write!(f, "SharedSecret({header}: redacted)"),
        }
    }
}

impl fmt::Debug for DestinationAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DestinationAuth::Bearer { .. } => f.write_str("Bearer(redacted)"),
            DestinationAuth::Header { header, .. } => write!(f, "Header({header}: redacted)"),
        }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("active", &self.active)
            .finish_non_exhaustive()
    }
}
