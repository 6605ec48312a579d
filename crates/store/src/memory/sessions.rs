//! Sessions of the store in memory.

use super::MemoryStore;
use crate::error::StoreError;
use crate::session::{SESSION_BYTES, SessionRecord, SessionStore};
use async_trait::async_trait;
use postrider_core::id::ApiKeyId;
use postrider_core::limits::SESSIONS_PER_KEY_MAX;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    secret: Option<[u8; SESSION_BYTES]>,
    /// The oldest first.
    records: Vec<SessionRecord>,
}

impl Sessions {
    pub(super) fn end_of_key(&mut self, key: ApiKeyId) {
        self.records.retain(|record| record.key != Some(key));
    }

    fn begin(&mut self, session: SessionRecord) {
        let (now, print) = (session.began_at, session.key_print);
        self.records.retain(|record| record.ends_at > now);
        self.records.push(session);
        self.records.sort_by_key(|record| record.began_at);
        let of_key = self.records.iter().filter(|record| record.key_print == print).count();
        let mut over = of_key.saturating_sub(SESSIONS_PER_KEY_MAX);
        self.records.retain(|record| {
            let is_kept = record.key_print != print || over == 0;
            over -= usize::from(!is_kept);
            is_kept
        });
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn secret(&self, made: [u8; SESSION_BYTES]) -> Result<[u8; SESSION_BYTES], StoreError> {
        Ok(*self.state().sessions.secret.get_or_insert(made))
    }

    async fn begin(&self, session: SessionRecord) -> Result<(), StoreError> {
        self.state().sessions.begin(session);
        Ok(())
    }

    async fn find(&self, id: [u8; SESSION_BYTES]) -> Result<Option<SessionRecord>, StoreError> {
        Ok(self.state().sessions.records.iter().find(|record| record.id == id).cloned())
    }

    async fn note(&self, id: [u8; SESSION_BYTES], note: String) -> Result<(), StoreError> {
        let mut state = self.state();
        let found = state.sessions.records.iter_mut().find(|record| record.id == id);
        found.into_iter().for_each(|record| record.note.clone_from(&note));
        Ok(())
    }

    async fn end(&self, id: [u8; SESSION_BYTES]) -> Result<(), StoreError> {
        self.state().sessions.records.retain(|record| record.id != id);
        Ok(())
    }
}
