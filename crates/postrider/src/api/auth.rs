//! Who is calling: an account by its key, or the operator by the admin key.

use super::App;
use super::error::ApiError;
use crate::serve::admin_key::hash;
use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use postrider_core::id::AccountId;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// An authenticated caller and the account it acts for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) account: AccountId,
    pub(crate) admin: bool,
}

/// With the admin key, the account to act for; the first one when absent.
const ACCOUNT_HEADER: &str = "postrider-account";

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        identify(parts, app)
    }
}

/// A caller, or nobody where nobody is allowed too.
pub(crate) struct MaybeCaller(pub(crate) Option<Caller>);

impl FromRequestParts<Arc<App>> for MaybeCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return Ok(MaybeCaller(None));
        }
        identify(parts, app).map(|caller| MaybeCaller(Some(caller)))
    }
}

fn identify(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, key) = header.and_then(|text| text.split_once(' ')).ok_or_else(ApiError::unauthorized)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(ApiError::unauthorized());
    }
    let hash = hash(key.trim());
    if bool::from(hash.ct_eq(&app.admin_hash)) {
        return admin(parts, app);
    }
    // A look-up by hash tells an attacker nothing about any key: the hash is not theirs to choose.
    let catalog = app.engine.catalog();
    let key = catalog.api_key(&hash).ok_or_else(ApiError::unauthorized)?;
    Ok(Caller { account: key.account, admin: false })
}

fn admin(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let Some(asked) = parts.headers.get(ACCOUNT_HEADER) else {
        return Ok(Caller { account: app.first.account, admin: true });
    };
    let account = asked.to_str().ok().and_then(|text| AccountId::parse(text).ok());
    let account = account.filter(|id| app.engine.catalog().account(*id).is_some());
    account.map(|account| Caller { account, admin: true }).ok_or_else(|| ApiError::not_found("account"))
}
