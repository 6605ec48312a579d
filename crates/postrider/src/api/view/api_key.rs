//! An API key as lists show it: enough to tell it from others.

use super::word::Scope;
use crate::api::request::RateLimit;
use postrider_store::codec::rate_to_json;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A key of an account.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApiKey {
    #[schema(example = "key_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    name: String,
    /// How the key begins.
    #[schema(example = "hk_7Yq2mPa")]
    key_prefix: String,
    #[schema(format = DateTime)]
    created_at: String,
    /// What it is for.
    #[schema(value_type = Scope)]
    scope: &'static str,
    /// The scope in GetHook's words: `owner` for `admin`, `admin` for `account`, `viewer` for `read`; any other is the same
    /// word.
    #[schema(example = "admin")]
    role: &'static str,
    /// How often it may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RateLimit>)]
    rate_limit: Option<Value>,
    /// From when on it does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    expires_at: Option<String>,
    /// When it was last used, give or take a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    last_used_at: Option<String>,
    /// Since when it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    revoked_at: Option<String>,
    /// The key in full, only in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<String>,
    /// The same, as GetHook's documentation calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    plain_key: Option<String>,
    /// The same once more, where scripts look for it that also make accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    api_key: Option<KeyText>,
}

/// The text of a key that was just made, by both of its names.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct KeyText {
    #[schema(example = "hk_…")]
    key: String,
    #[schema(example = "hk_…")]
    plain_key: String,
}

impl ApiKey {
    pub(crate) fn of(key: &postrider_store::ApiKey) -> Self {
        ApiKey {
            id: key.id.to_string(),
            account_id: key.account.to_string(),
            name: key.name.clone(),
            key_prefix: key.prefix.clone(),
            created_at: key.created_at.to_string(),
            scope: key.scope.as_str(),
            role: role(key.scope),
            rate_limit: key.rate_limit.map(rate_to_json),
            expires_at: key.expires_at.map(|at| at.to_string()),
            last_used_at: key.last_used_at.map(|at| at.to_string()),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            key: None,
            plain_key: None,
            api_key: None,
        }
    }

    /// A key that was just made, with its text.
    pub(crate) fn made(key: &postrider_store::ApiKey, text: String) -> Self {
        let plain_key = Some(text.clone());
        ApiKey { key: Some(text), plain_key, ..ApiKey::of(key) }
    }

    /// The same, and its text at the place where an answer that makes an account has it.
    pub(crate) fn also_as_api_key(self) -> Self {
        let text = self.key.clone().zip(self.plain_key.clone());
        ApiKey { api_key: text.map(|(key, plain_key)| KeyText { key, plain_key }), ..self }
    }
}

/// The role of GetHook's wire that comes nearest to a scope.
const fn role(scope: postrider_store::Scope) -> &'static str {
    match scope {
        postrider_store::Scope::Admin => "owner",
        postrider_store::Scope::Account => "admin",
        postrider_store::Scope::Read => "viewer",
        other => other.as_str(),
    }
}
