//! Waking the owners of shards. A notification takes a lock at commit, so those of a few milliseconds are one; one
//! that is lost costs the others' poll interval and nothing else.

use crate::database::{Database, Shared};
use crate::error::QueryError;
use crate::pause::{PAUSE_MAX, pause};
use deadpool_postgres::GenericClient;
use futures_util::future::poll_fn;
use postrider_core::pauses::Pauses;
use postrider_store::Shards;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;

/// How long notifications are gathered: with one in each commit, 16 writers made a quarter of the commits.
const GATHER: Duration = Duration::from_millis(3);
const PAUSE_FIRST: Duration = Duration::from_millis(200);
const CHANNEL: &str = "postrider";
/// Heard by all: nodes came or went, or shards are free.
const SHARDS: &str = "shards";

/// Shards whose owners are to be woken.
#[derive(Default)]
pub(crate) struct Notice {
    shards: AtomicU64,
    there: Notify,
}

impl Notice {
    /// Has the owners of these shards woken soon.
    pub(crate) fn give(&self, shards: Shards) {
        if !shards.is_empty() {
            self.shards.fetch_or(shards.bits(), Ordering::Relaxed);
            self.there.notify_one();
        }
    }

    /// Sends what was given, until the store is dropped.
    pub(crate) async fn run(database: Shared) {
        loop {
            database.notice.there.notified().await;
            tokio::time::sleep(GATHER).await;
            let shards = database.notice.shards.swap(0, Ordering::Relaxed);
            if let Err(error) = send(&database, shards).await {
                tracing::debug!(%error, "notification lost");
            }
        }
    }
}

async fn send(database: &Database, shards: u64) -> Result<(), QueryError> {
    let client = database.client().await?;
    let statement = client.prepare_cached("SELECT pg_notify($1, $2)").await?;
    client.execute(&statement, &[&CHANNEL, &format!("{shards:x}")]).await?;
    Ok(())
}

/// Tells all nodes that the shards are to be shared out anew, once the transaction that does so is committed.
pub(crate) async fn announce(client: &impl GenericClient) -> Result<(), QueryError> {
    client.execute("SELECT pg_notify($1, $2)", &[&CHANNEL, &SHARDS]).await?;
    Ok(())
}

/// What was heard.
#[derive(Default)]
pub(crate) struct Heard {
    there: Notify,
    /// Shards are to be shared out anew.
    shards: AtomicBool,
}

impl Heard {
    fn hear(&self, payload: &str, own: Shards) {
        if payload == SHARDS {
            self.shards.store(true, Ordering::Relaxed);
        } else if let Ok(meant) = u64::from_str_radix(payload, 16)
            && !own.is_empty()
            && meant & own.bits() == 0
        {
            return;
        }
        self.there.notify_one();
    }

    /// What was sent while nobody listened was missed.
    fn missed(&self) {
        self.shards.store(true, Ordering::Relaxed);
        self.there.notify_one();
    }

    /// Waits until something is heard, and no longer than this.
    pub(crate) async fn wait(&self, longest: Duration) {
        let _ = tokio::time::timeout(longest, self.there.notified()).await;
    }

    /// Whether shards were to be shared out anew since this was asked last.
    pub(crate) fn take_shards(&self) -> bool {
        self.shards.swap(false, Ordering::Relaxed)
    }
}

/// Listens on a connection of its own, and makes another when it breaks.
pub(crate) async fn listen(database: Shared, heard: Arc<Heard>) {
    let mut pauses = Pauses::new(PAUSE_FIRST, PAUSE_MAX);
    loop {
        if let Err(error) = listen_once(&database, &heard, &mut pauses).await {
            tracing::debug!(%error, "not listening for notifications; polling instead");
        }
        pause(&mut pauses).await;
    }
}

async fn listen_once(
    database: &Database,
    heard: &Heard,
    pauses: &mut Pauses,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = database.address.connect(database.tls.clone()).await?;
    let listen = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        heard.missed();
        pauses.begin_anew();
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    let messages = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(note) = message? {
                heard.hear(note.payload(), database.own());
            }
        }
        Ok(())
    };
    tokio::select! {
        done = listen => done,
        done = messages => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_store::Shard;

    fn check(payload: &str, own: Shards, woken: bool, shards: bool) {
        let heard = Heard::default();
        heard.hear(payload, own);
        let found = std::pin::pin!(heard.there.notified()).enable();
        assert_eq!((found, heard.take_shards()), (woken, shards), "{payload} with {own:?}");
    }

    #[test]
    fn a_node_hears_what_is_for_its_shards_and_one_without_any_hears_all() {
        let first = Shards::NONE.with(Shard::from_number(0).unwrap());
        check("1", first, true, false);
        check("2", first, false, false);
        check("2", Shards::NONE, true, false);
        check("what another version says", first, true, false);
        check(SHARDS, first, true, true);
        check(SHARDS, Shards::NONE, true, true);
    }
}
