//! Who is signed in to the dashboard or the portal, and the secret that their cookies are made with.

use crate::configuration::Change;
use crate::error::StoreError;
use crate::vault::{NotOpened, Vault};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_core::id::ApiKeyId;
use postrider_core::time::Timestamp;

/// Bytes of the secret, of a session's id and of what its key is recognised by.
pub const SESSION_BYTES: usize = 32;

/// Where the secret is sealed for.
const SECRET_PLACE: &str = "session secret";

/// One session. Whoever reads it here cannot sign in with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// A hash of what its cookie carries.
    pub id: [u8; SESSION_BYTES],
    /// The key that signed in; `None` for the gateway's own.
    pub key: Option<ApiKeyId>,
    /// What that key is recognised by.
    pub key_print: [u8; SESSION_BYTES],
    /// What is known of whoever signed in.
    pub note: String,
    /// When it began.
    pub began_at: Timestamp,
    /// From when on it does not count.
    pub ends_at: Timestamp,
}

/// Sessions of all nodes.
///
/// A change that revokes or deletes a key ends its sessions with it, in the same transaction.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// The session secret of all nodes: this one, unless one is kept already. It is sealed at rest.
    async fn secret(&self, made: [u8; SESSION_BYTES]) -> Result<[u8; SESSION_BYTES], StoreError>;

    /// Keeps a new session. Those that ended before it began are deleted, and so are the oldest of its key beyond
    /// [`SESSIONS_PER_KEY_MAX`].
    ///
    /// [`SESSIONS_PER_KEY_MAX`]: postrider_core::limits::SESSIONS_PER_KEY_MAX
    async fn begin(&self, session: SessionRecord) -> Result<(), StoreError>;

    /// The session with this id, also one that is past its end.
    async fn find(&self, id: [u8; SESSION_BYTES]) -> Result<Option<SessionRecord>, StoreError>;

    /// Replaces the note of a session, if there still is one.
    async fn note(&self, id: [u8; SESSION_BYTES], note: String) -> Result<(), StoreError>;

    /// Ends a session.
    async fn end(&self, id: [u8; SESSION_BYTES]) -> Result<(), StoreError>;
}

/// The secret of a store, and how it is to be written if it must be.
pub struct KeptSecret {
    /// The secret.
    pub secret: [u8; SESSION_BYTES],
    /// Sealed; `None` when the store has it like this already.
    pub to_write: Option<String>,
}

impl KeptSecret {
    /// Opens what a store keeps, or seals `made` when it keeps nothing. What an older key sealed is sealed anew, so that the
    /// older key can be dropped.
    pub fn of(vault: &Vault, kept: Option<&str>, made: [u8; SESSION_BYTES]) -> Result<Self, StoreError> {
        let seal = |secret: [u8; SESSION_BYTES]| vault.seal(SECRET_PLACE, &STANDARD.encode(secret));
        let Some(kept) = kept else { return Ok(KeptSecret { secret: made, to_write: Some(seal(made)) }) };
        let text = vault.open(SECRET_PLACE, kept).map_err(not_opened)?;
        let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        let secret = bytes.ok_or_else(|| not_opened(NotOpened::Changed))?;
        let to_write = (!vault.sealed_by_first(kept)).then(|| seal(secret));
        Ok(KeptSecret { secret, to_write })
    }
}

fn not_opened(cause: NotOpened) -> StoreError {
    StoreError::Broken(match cause {
        NotOpened::OtherKey => {
            "the session secret was sealed with another key; give the key of that time as \
            secret_key, or put its secret.key file back"
                .into()
        }
        NotOpened::Changed => "the session secret was changed in the database".into(),
    })
}

/// The key whose sessions end with this change.
pub(crate) fn ended_by(change: &Change) -> Option<ApiKeyId> {
    match change {
        Change::PutApiKey(key) if key.revoked_at.is_some() => Some(key.id),
        Change::DeleteApiKey(id) => Some(*id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_that_is_kept_is_the_secret() {
        let vault = Vault::new([1; 32], &[]);
        let first = KeptSecret::of(&vault, None, [7; SESSION_BYTES]).unwrap();
        let sealed = first.to_write.expect("the first is written");
        assert!(!sealed.contains(&STANDARD.encode([7; SESSION_BYTES])), "it is sealed: {sealed}");
        let again = KeptSecret::of(&vault, Some(&sealed), [8; SESSION_BYTES]).unwrap();
        assert_eq!((again.secret, again.to_write), ([7; SESSION_BYTES], None));
    }

    #[test]
    fn a_secret_of_an_older_key_is_sealed_anew() {
        let sealed = KeptSecret::of(&Vault::new([1; 32], &[]), None, [7; 32]).unwrap().to_write.unwrap();
        let kept = KeptSecret::of(&Vault::new([2; 32], &[[1; 32]]), Some(&sealed), [8; 32]).unwrap();
        let anew = kept.to_write.expect("it is sealed by the first key");
        assert_eq!(kept.secret, [7; 32]);
        let kept = KeptSecret::of(&Vault::new([2; 32], &[]), Some(&anew), [8; 32]).unwrap();
        assert_eq!((kept.secret, kept.to_write), ([7; 32], None));
    }

    #[test]
    fn a_secret_that_does_not_open_is_an_error_and_not_a_new_one() {
        let sealed = KeptSecret::of(&Vault::new([1; 32], &[]), None, [7; 32]).unwrap().to_write.unwrap();
        let other = KeptSecret::of(&Vault::new([2; 32], &[]), Some(&sealed), [8; 32]);
        assert!(matches!(other, Err(StoreError::Broken(why)) if why.contains("another key")));
        let elsewhere = Vault::new([1; 32], &[]).seal("dst_1 signing", "x");
        let moved = KeptSecret::of(&Vault::new([1; 32], &[]), Some(&elsewhere), [8; 32]);
        assert!(matches!(moved, Err(StoreError::Broken(why)) if why.contains("was changed")));
    }
}
