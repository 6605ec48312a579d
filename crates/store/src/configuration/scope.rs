//! What a key is for.

/// What a key is for. What each may do is said where the API checks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The operator's powers over all accounts.
    Admin,
    /// Everything of its account.
    #[default]
    Account,
    /// Looking at everything of its account.
    Read,
    /// Sending events for its account.
    Ingest,
    /// A user of the account's portal.
    Portal,
}

impl Scope {
    /// All of them, the mightiest first.
    pub const ALL: [Scope; 5] = [Scope::Admin, Scope::Account, Scope::Read, Scope::Ingest, Scope::Portal];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Admin => "admin",
            Scope::Account => "account",
            Scope::Read => "read",
            Scope::Ingest => "ingest",
            Scope::Portal => "portal",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}
