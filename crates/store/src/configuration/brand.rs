//! How an account's portal looks.

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
}
