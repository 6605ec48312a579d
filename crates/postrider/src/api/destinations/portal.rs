//! What users of the portal may not do themselves: choose how hard the gateway works for one of their destinations, and
//! have credentials that they cannot see sent to somewhere else.

use super::keys::new_event_headers_key;
use crate::api::auth::Caller;
use crate::api::error::ApiError;
use crate::api::fields::Fields;
use postrider_core::destination::RateLimit;
use postrider_core::limits::{MAX_CONCURRENCY_DEFAULT, TIMEOUT_SECONDS_DEFAULT};
use postrider_engine::send::DestinationUrl;
use postrider_store::{Destination, Headers, Scope};

/// How hard the gateway works for a destination.
pub(super) struct Reach {
    max_concurrency: u32,
    timeout_seconds: u32,
    rate_limit: Option<RateLimit>,
}

impl Reach {
    pub(super) fn of(destination: &Destination) -> Self {
        Reach {
            max_concurrency: destination.max_concurrency.get(),
            timeout_seconds: destination.timeout.get(),
            rate_limit: destination.rate_limit,
        }
    }
}

/// A session may lower what is there, and raise it to the default; what an operator has set higher may stay.
pub(super) fn check_reach(caller: Caller, before: &Reach, after: &Destination) -> Result<(), ApiError> {
    if caller.scope != Scope::Portal {
        return Ok(());
    }
    let after = Reach::of(after);
    let numbers = [
        ("max_concurrency", before.max_concurrency.max(MAX_CONCURRENCY_DEFAULT), after.max_concurrency),
        ("timeout_seconds", before.timeout_seconds.max(TIMEOUT_SECONDS_DEFAULT), after.timeout_seconds),
    ];
    if let Some((field, most, _)) = numbers.into_iter().find(|(_, most, wanted)| wanted > most) {
        let allowed = format!("must be a whole number from 1 to {most} in the portal");
        return Err(ApiError::field(field, allowed));
    }
    match before.rate_limit {
        Some(most) if !after.rate_limit.is_some_and(|wanted| is_within(wanted, most)) => {
            let (per_second, burst) = (most.per_second(), most.burst());
            let allowed = format!(
                "must stay, with per_second at most {per_second} and burst at most {burst} in the portal"
            );
            Err(ApiError::field("rate_limit", allowed))
        }
        _ => Ok(()),
    }
}

fn is_within(wanted: RateLimit, most: RateLimit) -> bool {
    wanted.per_second() <= most.per_second() && wanted.burst() <= most.burst()
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
                "leads to another receiver, which would get the credentials of this one; give {field} again, or null in the portal"
            );
            Err(ApiError::field("url", allowed))
        }
        _ => Ok(()),
    }
}

/// What is laid over the credentials of one receiver must not carry the rest of them to another.
pub(super) fn without_credentials_of_another(caller: Caller, found: Destination, url: &str) -> Destination {
    if caller.scope != Scope::Portal || same_origin(&found.url, url) {
        return found;
    }
    Destination {
        auth: None,
        custom_headers: Headers::default(),
        // Events of before have headers for the old receiver, which a replay must not send to the new one.
        event_headers_key: found.event_headers_key.is_some().then(new_event_headers_key),
        ..found
    }
}

fn same_origin(one: &str, other: &str) -> bool {
    match (DestinationUrl::parse(one), DestinationUrl::parse(other)) {
        (Ok(one), Ok(other)) => one.origin() == other.origin(),
        _ => one == other,
    }
}
