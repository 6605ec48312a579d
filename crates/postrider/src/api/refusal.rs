//! The refusals that calls can answer with, in groups by what brings them about.

use super::error::Refusal;
use std::collections::BTreeMap;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = [$($status:literal $says:literal),+ $(,)?];)+) => { $(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$((stringify!($status).to_owned(), refusal($says))),+].into()
            }
        }
    )+ };
}

refusals! {
    /// Of a call that needs a key.
    Keyed = [
        401 "No key, or one that is unknown, revoked or expired.",
        403 "The key's scope does not allow this.",
        404 "No such object, it is another account's, or `Postrider-Account` names no account.",
        429 "The key is used more often than its rate limit allows, or too many wrong keys came from this address; `Retry-After` says when to try again.",
    ];
    /// Of a body in JSON.
    Body = [
        400 "The body is not JSON, not an object, or broke off, or a field that must be there is missing.",
        408 "The body did not arrive in time.",
        413 "The body is too large.",
        422 "A field is unknown or not allowed.",
    ];
    /// Of a call of another system's wire behind which there is nothing here.
    NotOffered = [404 "Not found; the message says what exists."];
    /// Of parameters in the query.
    Queried = [422 "A parameter is unknown or not allowed."];
    /// Of a change that is only to be made to what the caller has seen.
    Stale = [412 "It was changed since; `If-Match` names another `ETag`."];
    /// Of what is asked of an object that cannot do it as it stands.
    Conflict = [409 "Not possible in the current state."];
    /// Of a call that makes events.
    Overloaded = [429 "The account has too much pending, or a rate limit is reached; `Retry-After` says when to retry."];
    /// Of the store.
    Stored = [503 "The gateway cannot do this now; `Retry-After` says when to retry."];
    /// Of an event that a gateway may have sent.
    Looped = [508 "The event has been through too many gateways."];
    /// Of an event that comes in.
    Ingest = [
        400 "The body broke off.",
        401 "The request is not signed as the source wants it.",
        404 "No such source.",
        408 "The body did not arrive in time.",
        409 "Another body was accepted under the same idempotency key.",
        413 "The body is too large.",
        422 "A header, or a field that the source takes from the body, is not allowed, or the body does not match the schema of its type.",
        429 "The account has too much pending, or a rate limit is reached; `Retry-After` says when to retry.",
        503 "The gateway cannot accept events now; `Retry-After` says when to retry.",
        508 "The event has been through too many gateways.",
    ];
}

fn refusal(says: &str) -> RefOr<Response> {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(Refusal::name()))).build();
    ResponseBuilder::new().description(says).content("application/json", body).build().into()
}
