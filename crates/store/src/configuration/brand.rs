//! How an account's portal looks.

use postrider_core::time::Timestamp;

/// How an account's portal looks. What is absent is as the gateway has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brand {
    /// Whose portal it is.
    pub company_name: Option<String>,
    /// The title of its pages.
    pub docs_title: Option<String>,
    /// An image, by https.
    pub logo_url: Option<String>,
    /// As `#rrggbb`.
    pub primary_color: Option<String>,
    /// Where its users turn to.
    pub support_email: Option<String>,
    /// When it was set first and last; never yet when `None`.
    pub set: Option<BrandTimes>,
}

/// When a brand was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrandTimes {
    /// For the first time.
    pub created_at: Timestamp,
    /// For the last time.
    pub updated_at: Timestamp,
}
