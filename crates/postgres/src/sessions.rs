//! Sessions of all nodes. They are looked up with every page, so that one that was ended on another node is over here too.

use crate::PostgresStore;
use crate::database::{Database, Shared};
use crate::error::QueryError;
use crate::values::{column, int, read_time, text, time, uint};
use async_trait::async_trait;
use deadpool_postgres::Transaction;
use postrider_core::id::ApiKeyId;
use postrider_core::limits::SESSIONS_PER_KEY_MAX;
use postrider_store::{KeptSecret, SESSION_BYTES, SessionRecord, SessionStore, StoreError};
use tokio_postgres::Row;

#[async_trait]
impl SessionStore for PostgresStore {
    async fn secret(&self, made: [u8; SESSION_BYTES]) -> Result<[u8; SESSION_BYTES], StoreError> {
        self.run(|database| async move { secret(&database, made).await }).await?
    }

    async fn begin(&self, session: SessionRecord) -> Result<(), StoreError> {
        self.run(|database| async move { begin(&database, &session).await }).await
    }

    async fn find(&self, id: [u8; SESSION_BYTES]) -> Result<Option<SessionRecord>, StoreError> {
        self.run_told(|database| async move { find(&database, &id).await }).await
    }

    async fn note(&self, id: [u8; SESSION_BYTES], note: String) -> Result<(), StoreError> {
        let update = |database: Shared| async move {
            let update = "UPDATE sessions SET note = $2 WHERE id = $1";
            database.client().await?.execute(update, &[&&id[..], &text(&note)]).await?;
            Ok(())
        };
        self.run(update).await
    }

    async fn end(&self, id: [u8; SESSION_BYTES]) -> Result<(), StoreError> {
        let delete = |database: Shared| async move {
            let delete = "DELETE FROM sessions WHERE id = $1";
            database.client().await?.execute(delete, &[&&id[..]]).await?;
            Ok(())
        };
        self.run(delete).await
    }
}

/// With the change that takes the key away.
pub(crate) async fn end_of_key(change: &Transaction<'_>, key: ApiKeyId) -> Result<(), QueryError> {
    change.execute("DELETE FROM sessions WHERE key_id = $1", &[&int(key.as_u64())]).await?;
    Ok(())
}

type Secret = Result<[u8; SESSION_BYTES], StoreError>;

/// Nodes that start together agree: the row is held from reading to writing.
async fn secret(database: &Database, made: [u8; SESSION_BYTES]) -> Result<Secret, QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let row = change.query_one("SELECT session_secret FROM cluster FOR UPDATE", &[]).await?;
    let kept: Option<String> = column(&row, 0)?;
    let KeptSecret { secret, to_write } = match KeptSecret::of(&database.vault, kept.as_deref(), made) {
        Ok(kept) => kept,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(sealed) = to_write {
        change.execute("UPDATE cluster SET session_secret = $1", &[&sealed]).await?;
    }
    change.commit().await?;
    Ok(Ok(secret))
}

async fn begin(database: &Database, session: &SessionRecord) -> Result<(), QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    change.execute("DELETE FROM sessions WHERE ends_at <= $1", &[&time(session.began_at)]).await?;
    let (key, print) = (session.key.map(|key| int(key.as_u64())), &session.key_print[..]);
    let put = "INSERT INTO sessions VALUES ($1, $2, $3, $4, $5, $6)";
    let (began_at, ends_at) = (time(session.began_at), time(session.ends_at));
    change.execute(put, &[&&session.id[..], &key, &print, &text(&session.note), &began_at, &ends_at]).await?;
    let make_room = "DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE key_print = $1 ORDER BY began_at DESC, id OFFSET $2)";
    change.execute(make_room, &[&print, &int(SESSIONS_PER_KEY_MAX as u64)]).await?;
    Ok(change.commit().await?)
}

async fn find(database: &Database, id: &[u8; SESSION_BYTES]) -> Result<Option<SessionRecord>, QueryError> {
    let select = "SELECT id, key_id, key_print, note, began_at, ends_at FROM sessions WHERE id = $1";
    let row = database.client().await?.query_opt(select, &[&&id[..]]).await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<SessionRecord, QueryError> {
    let bytes = |index| {
        let bytes: Vec<u8> = column(row, index)?;
        bytes.try_into().map_err(|_| QueryError::Corrupt("a session"))
    };
    let key: Option<i64> = column(row, 1)?;
    Ok(SessionRecord {
        id: bytes(0)?,
        key: key.map(|key| ApiKeyId::from_u64(uint(key))),
        key_print: bytes(2)?,
        note: column(row, 3)?,
        began_at: read_time(column(row, 4)?),
        ends_at: read_time(column(row, 5)?),
    })
}
