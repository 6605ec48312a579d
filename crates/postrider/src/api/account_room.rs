//! How much an account may have configured: an event may be owed to all of its destinations, and every node holds each
//! object in memory.

use super::auth::Caller;
use super::error::ApiError;
use postrider_core::limits::{API_KEYS_MAX, DESTINATIONS_MAX, PORTAL_OBJECTS_MAX, ROUTES_MAX, SOURCES_MAX};
use postrider_engine::Catalog;
use postrider_store::Scope;

/// Refuses one more destination than there may be.
pub(super) fn for_destination(catalog: &Catalog, caller: Caller) -> Result<(), ApiError> {
    let most = most(caller, DESTINATIONS_MAX);
    check(catalog.has_destinations(caller.account, most), "destinations", most)
}

/// Refuses one more route than there may be.
pub(super) fn for_route(catalog: &Catalog, caller: Caller) -> Result<(), ApiError> {
    let most = most(caller, ROUTES_MAX);
    check(catalog.has_routes(caller.account, most), "routes", most)
}

/// Refuses one more source than there may be.
pub(super) fn for_source(catalog: &Catalog, caller: Caller) -> Result<(), ApiError> {
    check(catalog.has_sources(caller.account, SOURCES_MAX), "sources", SOURCES_MAX)
}

/// Refuses one more key than there may be.
pub(super) fn for_api_key(catalog: &Catalog, caller: Caller) -> Result<(), ApiError> {
    check(catalog.has_api_keys(caller.account, API_KEYS_MAX), "keys", API_KEYS_MAX)
}

/// Users of the portal, who may be anybody, come to an end before the account does.
fn most(caller: Caller, most: usize) -> usize {
    if caller.scope == Scope::Portal { PORTAL_OBJECTS_MAX } else { most }
}

fn check(is_full: bool, nouns: &str, most: usize) -> Result<(), ApiError> {
    let sentence =
        || format!("The account has {most} {nouns}, which is the most for this key; delete one first.");
    if is_full { Err(ApiError::conflict("account_full", sentence())) } else { Ok(()) }
}
