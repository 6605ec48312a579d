//! A portal session, and how the portal looks.

use serde::Serialize;
use utoipa::ToSchema;

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
}

impl Brand {
    pub(crate) fn of(brand: &postrider_store::Brand) -> Self {
        Brand {
            company_name: brand.company_name.clone(),
            docs_title: brand.docs_title.clone(),
            logo_url: brand.logo_url.clone(),
            primary_color: brand.primary_color.clone(),
            support_email: brand.support_email.clone(),
        }
    }
}
