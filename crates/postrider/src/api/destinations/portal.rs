//! What users of the portal may not do themselves: choose how hard the gateway works for one of their destinations, and
//! have credentials that they cannot see sent to somewhere else.

use crate::api::auth::Caller;
use crate::api::error::ApiError;
use crate::api::fields::Fields;
use postrider_core::destination::MaxConcurrency;
use postrider_core::limits::MAX_CONCURRENCY_DEFAULT;
use postrider_engine::send::DestinationUrl;
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

/// Whoever moves a destination to another origin gives its credentials anew, or takes them away: the new receiver
/// would be sent them.
pub(super) fn check_move(
    caller: Caller,
    before: &Destination,
    url: &str,
    fields: &mut Fields,
) -> Result<(), ApiError> {
    let kept =
        [("auth_config", before.auth.is_some()), ("custom_headers", !before.custom_headers.is_empty())];
    let kept = kept.into_iter().find(|(field, there)| *there && !fields.mentions(field));
    match kept {
        Some((field, _)) if caller.scope == Scope::Portal && !same_origin(&before.url, url) => {
            let allowed = format!(
                "leads to another receiver, which would get the credentials of this one; give {field} anew or null in the portal"
            );
            Err(ApiError::field("url", allowed))
        }
        _ => Ok(()),
    }
}

fn same_origin(one: &str, other: &str) -> bool {
    match (DestinationUrl::parse(one), DestinationUrl::parse(other)) {
        (Ok(one), Ok(other)) => one.origin() == other.origin(),
        _ => one == other,
    }
}
