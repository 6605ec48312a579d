//! What users of the portal may not choose themselves: how hard the gateway works for one of their destinations.

use crate::api::auth::Caller;
use crate::api::error::ApiError;
use postrider_core::destination::MaxConcurrency;
use postrider_core::limits::MAX_CONCURRENCY_DEFAULT;
use postrider_store::{Destination, Scope};

/// A session may lower it, and raise it to the default; what an operator has set higher may stay.
pub(super) fn check_reach(
    caller: Caller,
    before: MaxConcurrency,
    after: &Destination,
) -> Result<(), ApiError> {
    let most = before.get().max(MAX_CONCURRENCY_DEFAULT);
    if caller.scope == Scope::Portal && after.max_concurrency.get() > most {
        let allowed = format!("must be a whole number from 1 to {most} in the portal");
        return Err(ApiError::field("max_concurrency", allowed));
    }
    Ok(())
}
