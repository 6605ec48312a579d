//! Calls of GetHook's wire behind which there is nothing here. Its clients are told what there is instead.

use super::auth::Caller;
use super::error::ApiError;
use super::refusal::{Keyed, NotOffered};
use super::view::{self, List};
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

const NO_PASSWORDS: &str = "There are no users with passwords here: POST /v1/accounts makes an account with its key, and \
    every call is made by a key.";
const NO_DOMAINS: &str = "Domains are not managed here: let the name lead to the gateway, have a proxy in front of it \
    hold the certificate, and set public_url.";

/// A domain of an account. There is none here.
#[derive(Serialize, ToSchema)]
pub(crate) struct CustomDomain {
    domain: String,
}

/// Register a user
///
/// Of GetHook's wire, and always refused: there are no users with passwords. `POST /v1/accounts` makes an account.
#[utoipa::path(
    post, path = "/v1/auth/register", operation_id = "register", tag = "accounts", security(()),
    responses(NotOffered)
)]
pub(crate) async fn register() -> ApiError {
    ApiError::not_offered(NO_PASSWORDS)
}

/// Log in
///
/// Of GetHook's wire, and always refused: every call is made by a key.
#[utoipa::path(
    post, path = "/v1/auth/login", operation_id = "log_in", tag = "accounts", security(()),
    responses(NotOffered)
)]
pub(crate) async fn log_in() -> ApiError {
    ApiError::not_offered(NO_PASSWORDS)
}

/// List custom domains
///
/// Of GetHook's wire: there are none, since domains are not managed here.
#[utoipa::path(
    get, path = "/v1/custom-domains", operation_id = "list_custom_domains", tag = "portal",
    responses((status = 200, description = "None.", body = List<CustomDomain>), Keyed)
)]
pub(crate) async fn custom_domains(_caller: Caller) -> Response {
    let none: [CustomDomain; 0] = [];
    view::data(StatusCode::OK, &none)
}

/// Add a custom domain
///
/// Of GetHook's wire, and always refused: domains are not managed here.
#[utoipa::path(
    post,
    path = "/v1/custom-domains",
    operation_id = "add_custom_domain",
    tag = "portal",
    responses(Keyed, NotOffered)
)]
pub(crate) async fn add_custom_domain(_caller: Caller) -> ApiError {
    ApiError::not_offered(NO_DOMAINS)
}
