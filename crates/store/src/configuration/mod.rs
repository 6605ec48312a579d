//! What an operator or tenant configures: accounts, keys, sources, destinations, routes, event types.

mod account;
mod api_key;
mod brand;
mod destination;
mod destination_tls;
mod event_type;
mod handshake;
mod route;
mod scope;
mod signing;
mod source;

pub use account::Account;
pub use api_key::ApiKey;
pub use brand::{Brand, BrandTimes};
pub use destination::{Destination, DestinationAuth, DestinationStatus};
pub use destination_tls::{ClientCertificate, DestinationTls};
pub use event_type::DescribedType;
pub use handshake::Handshake;
pub use route::Route;
pub use scope::Scope;
pub use signing::{PreviousKeys, PrivateKeyText, SignatureVersions, Signing};
pub use source::{Source, Verification};

use crate::audit::AuditRecord;
use postrider_core::breaker::CircuitRecord;
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, EventTypeId, RouteId, SourceId};

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
    /// Makes or replaces.
    PutEventType(Box<DescribedType>),
    /// Deletes it and nothing of what it has.
    DeleteAccount(AccountId),
    /// Deletes it.
    DeleteApiKey(ApiKeyId),
    /// Deletes it and the routes from it.
    DeleteSource(SourceId),
    /// Deletes it and the routes to it. What it was owed waits to be buried.
    DeleteDestination(DestinationId),
    /// Deletes it.
    DeleteRoute(RouteId),
    /// Deletes it.
    DeleteEventType(EventTypeId),
    /// Notes who made the changes beside it.
    Record(Box<AuditRecord>),
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
    /// Event types with their schemas.
    pub event_types: Vec<DescribedType>,
    /// Where circuits stand that are not closed.
    pub circuits: Vec<(DestinationId, CircuitRecord)>,
    /// This node's number, which is part of the ids it makes.
    pub node: u16,
    /// New ids must be greater than this.
    pub id_floor: u64,
    /// The last run did not stop in order, so requests of it may still run at receivers.
    pub unclean_stop: bool,
}
