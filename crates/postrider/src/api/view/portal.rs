//! A portal session, and how the portal looks.

use postrider_core::id::AccountId;
use postrider_store::{Account, BrandTimes};
use serde::Serialize;
use utoipa::ToSchema;

/// What the id of a brand begins with; the rest is that of its account.
const PREFIX: &str = "brd_";

/// A link for users of the account.
#[derive(Serialize, ToSchema)]
pub(crate) struct PortalSession {
    /// By which it is revoked, as an API key.
    #[schema(example = "key_01hz3k8q2v4xw")]
    pub(crate) id: String,
    /// The link, this once.
    #[schema(format = "uri")]
    pub(crate) url: String,
    /// What the link carries: a key of scope `portal`.
    pub(crate) token: String,
    #[schema(format = DateTime)]
    pub(crate) expires_at: String,
}

/// How an account's portal looks.
#[derive(Serialize, ToSchema)]
pub(crate) struct Brand {
    /// This and the account and the times are there once the brand has been set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "brd_01hz3k8q2v4xw")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    account_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    company_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    docs_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    logo_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "#0a7f3c")]
    primary_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "email")]
    support_email: Option<String>,
    /// When it was set for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    created_at: Option<String>,
    /// When it was set for the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    updated_at: Option<String>,
}

impl Brand {
    /// That of an account, which has one at most.
    pub(crate) fn seen(account: &Account) -> Self {
        let settings = Brand::of(&account.brand);
        let Some(BrandTimes { created_at, updated_at }) = account.brand.set else { return settings };
        Brand {
            id: Some(account.id.to_string().replacen(AccountId::PREFIX, PREFIX, 1)),
            account_id: Some(account.id.to_string()),
            created_at: Some(created_at.to_string()),
            updated_at: Some(updated_at.to_string()),
            ..settings
        }
    }

    /// What is set of it.
    pub(crate) fn of(brand: &postrider_store::Brand) -> Self {
        Brand {
            id: None,
            account_id: None,
            company_name: brand.company_name.clone(),
            docs_title: brand.docs_title.clone(),
            logo_url: brand.logo_url.clone(),
            primary_color: brand.primary_color.clone(),
            support_email: brand.support_email.clone(),
            created_at: None,
            updated_at: None,
        }
    }
}
