//! Who is signed in, as a page knows it.

use postrider_core::time::Timestamp;
use postrider_store::SESSION_BYTES;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) const HASH_BYTES: usize = 32;

/// Noted of who signed in by an admin key.
pub(super) const OPERATOR: &str = "operator";

/// Noted of who signed in by a key that changes nothing.
pub(super) const READER: &str = "reader";

/// Noted of an operator who looks at this account.
pub(super) fn note_of(account: &str, name: &str) -> String {
    format!("{OPERATOR} {account} {name}")
}

/// Somebody who is signed in.
#[derive(Clone)]
pub(super) struct Session {
    /// What the store knows it by.
    pub(super) id: [u8; SESSION_BYTES],
    /// Of the key that signed in.
    pub(super) key_hash: [u8; HASH_BYTES],
    /// Goes into every form: other sites cannot read it, so they cannot make changes.
    pub(super) form_token: String,
    /// What was noted when the session began, or since.
    pub(super) note: String,
    /// When it is over.
    pub(super) ends_at: Timestamp,
    /// The account that the operator acts for on this page; its own when `None`.
    pub(super) account: Option<String>,
    /// The API was asked for this page: a page counts once against the rate limit of its key.
    has_begun: Arc<AtomicBool>,
}

impl Session {
    /// Of somebody who is not signed in yet.
    pub(super) fn of_key(key_hash: [u8; HASH_BYTES]) -> Self {
        Session {
            id: [0; SESSION_BYTES],
            key_hash,
            form_token: String::new(),
            note: String::new(),
            ends_at: Timestamp::from_unix_ms(0),
            account: None,
            has_begun: Arc::default(),
        }
    }

    /// The same for things of this account. The API refuses it unless it may.
    pub(super) fn acting_for(&self, account: &str) -> Self {
        Session { account: Some(account.to_owned()), ..self.clone() }
    }

    /// The same for things of the account that the key is of.
    pub(super) fn of_their_own(&self) -> Self {
        Session { account: None, ..self.clone() }
    }

    /// Whether the API is asked for this page for the first time.
    pub(super) fn begins(&self) -> bool {
        !self.has_begun.swap(true, Ordering::Relaxed)
    }

    /// For how long it lasts from now on.
    pub(super) fn left(&self, now: Timestamp) -> Duration {
        self.ends_at.since(now)
    }

    /// Whether its key may look and change nothing.
    pub(super) fn is_reader(&self) -> bool {
        self.note == READER
    }

    pub(super) fn is_operator(&self) -> bool {
        self.note == OPERATOR || self.looked_at().is_some()
    }

    /// The account that the operator looks at, with its name of then.
    pub(super) fn looked_at(&self) -> Option<(&str, &str)> {
        looked_at(&self.note)
    }
}

fn looked_at(note: &str) -> Option<(&str, &str)> {
    note.strip_prefix(OPERATOR)?.strip_prefix(' ')?.split_once(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_looks_at_the_account_of_the_note_and_at_no_other() {
        let noted = |note: &str| Session { note: note.to_owned(), ..Session::of_key([1; HASH_BYTES]) };
        let looking = noted(&note_of("acc_1", "Shop & Sons"));
        assert_eq!(looking.looked_at(), Some(("acc_1", "Shop & Sons")));
        assert!(looking.is_operator() && noted(OPERATOR).is_operator() && !noted(READER).is_operator());
        for other in ["", "operators acc_1 x", OPERATOR, "operator acc_1", "x operator acc_1 x"] {
            assert!(noted(other).looked_at().is_none(), "{other}");
        }
    }
}
