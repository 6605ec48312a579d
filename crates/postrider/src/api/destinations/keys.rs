//! The keys of a destination: made, rotated with a time of grace, and the half of them that may be shown.

use super::{not_found, parse};
use crate::api::Shared;
use crate::api::auth::Caller;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, Segment};
use crate::api::refusal::{Body, Keyed, Stored};
use crate::api::request::Rotation;
use crate::api::view::{self, Data};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::time::Timestamp;
use postrider_engine::Catalog;
use postrider_engine::send::{EventHeadersKey, PrivateKey, SigningSecret};
use postrider_store::{Change, Destination, PreviousKeys, PrivateKeyText};
use std::time::Duration;

/// How long the old keys sign beside the new ones unless the caller says otherwise: a working day to roll it out.
const GRACE_SECONDS_DEFAULT: u64 = 24 * 3600;
/// At most a month.
const GRACE_SECONDS_MAX: u64 = 30 * 24 * 3600;
/// Rotations whose grace may overlap; each adds a signature to every delivery.
const PREVIOUS_MAX: usize = 4;

/// Rotate the keys of a destination
///
/// The old ones sign beside the new ones for the time of grace, so that no receiver breaks.
#[utoipa::path(
    post, path = "/v1/destinations/{id}/rotate-secret", operation_id = "rotate_signing_secret", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    request_body = Rotation,
    responses((status = 200, description = "The new secret, this once.", body = Data<view::NewSecret>), Keyed, Body, Stored)
)]
pub(crate) async fn rotate_secret(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let grace = fields.number("grace_seconds", grace)?.unwrap_or(GRACE_SECONDS_DEFAULT);
    fields.finish()?;
    let now = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let found = catalog.destination(caller.account, id).ok_or_else(not_found)?;
        let rotated = rotated((**found).clone(), Duration::from_secs(grace), now);
        Ok::<_, ApiError>((vec![Change::PutDestination(Box::new(rotated.clone()))], rotated))
    };
    let rotated = app.change(caller, decide).await?;
    Ok(view::data(StatusCode::OK, &view::NewSecret::of(&rotated)))
}

fn grace(seconds: u64) -> Result<u64, String> {
    let allowed = || format!("must be a whole number of seconds from 0 to {GRACE_SECONDS_MAX}");
    Some(seconds).filter(|seconds| *seconds <= GRACE_SECONDS_MAX).ok_or_else(allowed)
}

/// Without grace the keys of earlier rotations end too: whoever asks for that knows that something has leaked.
fn rotated(mut destination: Destination, grace: Duration, now: Timestamp) -> Destination {
    let signing = &mut destination.signing;
    let private_key = signing.private_key.as_ref().map(|_| new_private_key());
    let old = PreviousKeys {
        secret: std::mem::replace(&mut destination.signing_secret, new_secret()),
        private_key: std::mem::replace(&mut signing.private_key, private_key),
        until: now.after(grace),
    };
    if grace.is_zero() {
        signing.previous.clear();
    } else {
        signing.previous.retain(|keys| now < keys.until);
        signing.previous.push(old);
        let too_many = signing.previous.len().saturating_sub(PREVIOUS_MAX);
        signing.previous.drain(..too_many);
    }
    destination
}

/// Get the public key of a destination
///
/// Receivers check `v1a` signatures with it. It is no secret.
#[utoipa::path(
    get, path = "/v1/destinations/{id}/public-key", operation_id = "get_public_key", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    responses((status = 200, description = "The key of today.", body = Data<view::PublicKey>), Keyed)
)]
pub(crate) async fn public_key(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let found = app.engine.catalog().destination(caller.account, id).cloned().ok_or_else(not_found)?;
    let public_key = public_text(&found)
        .ok_or_else(|| ApiError::not_found("public key; add \"v1a\" to signature_versions to have one"))?;
    Ok(view::data(StatusCode::OK, &view::PublicKey { public_key }))
}

/// `whpk_…` of the key of today.
pub(crate) fn public_text(destination: &Destination) -> Option<String> {
    let PrivateKeyText(text) = destination.signing.private_key.as_ref()?;
    PrivateKey::parse(text).ok().map(|key| key.public_text())
}

/// When the next of the rotated keys stops signing.
pub(crate) fn previous_until(destination: &Destination) -> Option<Timestamp> {
    destination.signing.previous.iter().map(|keys| keys.until).max()
}

pub(crate) fn new_secret() -> String {
    SigningSecret::text_of(random())
}

/// Seals the headers that single events carry for their destination.
pub(crate) fn new_event_headers_key() -> String {
    EventHeadersKey::text_of(random())
}

pub(super) fn new_private_key() -> PrivateKeyText {
    PrivateKeyText(PrivateKey::text_of(random()))
}

fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::id::{AccountId, DestinationId};

    fn destination() -> Destination {
        let (id, account) = (DestinationId::from_u64(1), AccountId::from_u64(1));
        Destination::new(
            id,
            account,
            "d".into(),
            "https://example.com".into(),
            "first".into(),
            Timestamp::ZERO,
        )
    }

    #[test]
    fn every_rotation_keeps_the_old_keys_for_their_grace_and_few_of_them() {
        let (hour, now) = (Duration::from_secs(3600), Timestamp::ZERO.after(Duration::from_secs(9)));
        let once = rotated(destination(), hour, now);
        assert_eq!(once.signing.previous[0].secret, "first");
        assert_eq!(once.signing.previous[0].until, now.after(hour));
        assert_ne!(once.signing_secret, "first");
        let often = (0..9).fold(once.clone(), |so_far, _| rotated(so_far, hour, now));
        assert_eq!(often.signing.previous.len(), PREVIOUS_MAX);
        assert_eq!(rotated(once.clone(), hour, now.after(hour)).signing.previous.len(), 1);
        assert!(rotated(often, Duration::ZERO, now).signing.previous.is_empty());
        assert!(once.signing.private_key.is_none(), "a key that nobody asked for is not made");
    }
}
