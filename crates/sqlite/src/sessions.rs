//! Sessions in `live.db`.

use crate::SqliteStore;
use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, time, uint};
use async_trait::async_trait;
use postrider_core::id::ApiKeyId;
use postrider_core::limits::SESSIONS_PER_KEY_MAX;
use postrider_store::{KeptSecret, SESSION_BYTES, SessionRecord, SessionStore, StoreError, Vault};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

#[async_trait]
impl SessionStore for SqliteStore {
    async fn secret(&self, made: [u8; SESSION_BYTES]) -> Result<[u8; SESSION_BYTES], StoreError> {
        self.write(|writer| writer.in_live(|live| secret(live, &self.vault, made)))?
    }

    async fn begin(&self, session: SessionRecord) -> Result<(), StoreError> {
        self.write(|writer| writer.in_live(|live| begin(live, &session)))
    }

    async fn find(&self, id: [u8; SESSION_BYTES]) -> Result<Option<SessionRecord>, StoreError> {
        self.readers.run(move |reader| find(reader, id)).await
    }

    async fn note(&self, id: [u8; SESSION_BYTES], note: String) -> Result<(), StoreError> {
        let update = "UPDATE sessions SET note = ?2 WHERE id = ?1";
        self.write(|writer| writer.in_live(|live| live.execute(update, params![id, note]))).map(drop)
    }

    async fn end(&self, id: [u8; SESSION_BYTES]) -> Result<(), StoreError> {
        let delete = "DELETE FROM sessions WHERE id = ?1";
        self.write(|writer| writer.in_live(|live| live.execute(delete, [id]))).map(drop)
    }
}

/// With the change that takes the key away.
pub(crate) fn end_of_key(change: &Transaction<'_>, key: ApiKeyId) -> rusqlite::Result<()> {
    change.execute("DELETE FROM sessions WHERE key_id = ?1", [int(key.as_u64())]).map(drop)
}

type Secret = Result<[u8; SESSION_BYTES], StoreError>;

fn secret(live: &mut Connection, vault: &Vault, made: [u8; SESSION_BYTES]) -> rusqlite::Result<Secret> {
    let kept: Option<String> = live.query_row("SELECT session_secret FROM meta", [], |row| row.get(0))?;
    let KeptSecret { secret, to_write } = match KeptSecret::of(vault, kept.as_deref(), made) {
        Ok(kept) => kept,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(sealed) = to_write {
        live.execute("UPDATE meta SET session_secret = ?1", [sealed])?;
    }
    Ok(Ok(secret))
}

fn begin(live: &mut Connection, session: &SessionRecord) -> rusqlite::Result<()> {
    let change = live.transaction()?;
    change.execute("DELETE FROM sessions WHERE ends_at <= ?1", [time(session.began_at)])?;
    change.execute(
        "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            session.id,
            session.key.map(|key| int(key.as_u64())),
            session.key_print,
            session.note,
            time(session.began_at),
            time(session.ends_at),
        ],
    )?;
    change.execute(
        "DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE key_print = ?1 ORDER BY began_at DESC, id LIMIT -1 OFFSET ?2)",
        params![session.key_print, int(SESSIONS_PER_KEY_MAX as u64)],
    )?;
    change.commit()
}

fn find(reader: &mut Reader, id: [u8; SESSION_BYTES]) -> rusqlite::Result<Option<SessionRecord>> {
    let select = "SELECT id, key_id, key_print, note, began_at, ends_at FROM sessions WHERE id = ?1";
    reader.live().prepare_cached(select)?.query_row([id], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    let bytes = |index| row.get::<_, Vec<u8>>(index)?.try_into().map_err(|_| corrupt("a session"));
    let key: Option<i64> = row.get(1)?;
    Ok(SessionRecord {
        id: bytes(0)?,
        key: key.map(|key| ApiKeyId::from_u64(uint(key))),
        key_print: bytes(2)?,
        note: row.get(3)?,
        began_at: read_time(row.get(4)?),
        ends_at: read_time(row.get(5)?),
    })
}
