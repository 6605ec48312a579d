//! Waking the owners of shards. A notification takes a lock at commit, so those of a few milliseconds are one; one
//! that is lost costs the others' poll interval and nothing else.

use crate::database::{Database, Shared};
use futures_util::future::poll_fn;
use postrider_store::Shards;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;

/// How long notifications are gathered: with one in each commit, 16 writers made a quarter of the commits.
const GATHER: Duration = Duration::from_millis(3);
const PAUSE: Duration = Duration::from_millis(500);
const CHANNEL: &str = "postrider";

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
                tracing::debug!(%error, "a notification was lost");
            }
        }
    }
}

async fn send(database: &Database, shards: u64) -> Result<(), crate::error::QueryError> {
    let client = database.client().await?;
    let statement = client.prepare_cached("SELECT pg_notify($1, $2)").await?;
    client.execute(&statement, &[&CHANNEL, &format!("{shards:x}")]).await?;
    Ok(())
}

/// Listens on a connection of its own, and makes another when it breaks.
pub(crate) async fn listen(database: Shared, heard: Arc<Notify>) {
    loop {
        if let Err(error) = listen_once(&database, &heard).await {
            tracing::debug!(%error, "notifications are not heard; polling goes on");
        }
        tokio::time::sleep(PAUSE).await;
        // What was sent meanwhile was missed.
        heard.notify_one();
    }
}

async fn listen_once(database: &Database, heard: &Notify) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = database.address.connect(database.tls.clone()).await?;
    let listen = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    let messages = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(note) = message? {
                let meant = u64::from_str_radix(note.payload(), 16).unwrap_or(u64::MAX);
                if meant & database.own.load(Ordering::Relaxed) != 0 {
                    heard.notify_one();
                }
            }
        }
        Ok(())
    };
    tokio::select! {
        done = listen => done,
        done = messages => done,
    }
}
