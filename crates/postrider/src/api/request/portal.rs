//! What making a portal session and changing the portal's brand take.

use utoipa::ToSchema;

/// A new portal session.
#[derive(ToSchema)]
pub(crate) struct NewPortalSession {
    /// How long the link works.
    #[schema(minimum = 1, maximum = 86_400, default = 3600)]
    expires_in_seconds: Option<u64>,
    /// Where the portal leads back to.
    #[schema(format = "uri", max_length = 2048)]
    return_url: Option<String>,
}

/// What is not given stays; `null` takes one away.
#[derive(ToSchema)]
pub(crate) struct BrandChange {
    #[schema(min_length = 1, max_length = 200)]
    company_name: Option<String>,
    #[schema(min_length = 1, max_length = 200)]
    docs_title: Option<String>,
    /// A picture as a `data:` URL of png, jpeg, webp or svg+xml in base64, which the portal shows; or an `https://` URL of at
    /// most 2,048 bytes, which is for your own pages.
    #[schema(format = "uri", max_length = 16_384)]
    logo_url: Option<String>,
    #[schema(example = "#0a7f3c", pattern = "^#[0-9a-fA-F]{6}$")]
    primary_color: Option<String>,
    #[schema(format = "email")]
    support_email: Option<String>,
}
