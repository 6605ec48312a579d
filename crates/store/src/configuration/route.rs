//! Which events go where.

use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::PriorityRule;
use postrider_core::retry::RetryPolicy;
use postrider_core::time::Timestamp;

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
