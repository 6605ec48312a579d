//! Tenants.

use super::Brand;
use postrider_core::account::Weight;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::scheduler::Share;
use postrider_core::time::Timestamp;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// Its name.
    pub name: String,
    /// What it is on, in the operator's words.
    pub plan: Option<String>,
    /// Where its owner is reached.
    pub email: Option<String>,
    /// Its older events are not shown; those of the whole retention are when `None`.
    pub retention_days: Option<u32>,
    /// How its portal looks.
    pub brand: Brand,
    /// Its share beside the other accounts.
    pub weight: Weight,
    /// Attempts in flight at once, over all its destinations.
    pub max_in_flight: Option<u32>,
    /// Deliveries it may be owed before its events are refused.
    pub max_pending: Option<u64>,
    /// The same in bytes of their events' bodies.
    pub max_pending_bytes: Option<u64>,
    /// How long one of its deliveries may wait for nothing but a slot before its events are refused.
    pub max_pending_age_seconds: Option<u32>,
    /// Where it is told of what befalls its other destinations.
    pub operational_destination: Option<DestinationId>,
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
            plan: None,
            email: None,
            retention_days: None,
            brand: Brand::default(),
            weight: Weight::default(),
            max_in_flight: None,
            max_pending: None,
            max_pending_bytes: None,
            max_pending_age_seconds: None,
            operational_destination: None,
            created_at,
        }
    }
}
