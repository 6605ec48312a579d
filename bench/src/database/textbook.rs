//! Two designs as the textbook has them, written here for comparison: every step of every life is a transaction of its
//! own, and workers claim one row at a time.

use super::schema::connect;
use anyhow::Context as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;
use tokio_postgres::{Client, Statement};

/// More than there are workers, so that the counter is written and never in the way.
const MAX_CONCURRENCY: i64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Design {
    /// `FOR UPDATE SKIP LOCKED LIMIT 1`.
    Claims,
    /// The same, with the attempts in flight counted in a column of the destination.
    Counter,
}

impl Design {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Design::Claims => "textbook: SKIP LOCKED LIMIT 1",
            Design::Counter => "textbook: with a counter in flight",
        }
    }
}

pub(super) struct Tables {
    design: Design,
    url: String,
    destinations: u64,
}

const MAKE: &str = "CREATE TABLE events (id bigint PRIMARY KEY, received_at timestamptz NOT NULL, body bytea NOT NULL);
     CREATE TABLE destinations (id bigint PRIMARY KEY, in_flight bigint NOT NULL, max_concurrency bigint NOT NULL);
     CREATE TABLE deliveries (id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES events, destination_id bigint NOT NULL,
         status text NOT NULL, due_at timestamptz NOT NULL, attempts integer NOT NULL);
     CREATE INDEX deliveries_due ON deliveries (due_at, id) WHERE status = 'pending';
     CREATE TABLE attempts (id bigint PRIMARY KEY, delivery_id bigint NOT NULL REFERENCES deliveries,
         started_at timestamptz NOT NULL, status integer NOT NULL)";

const EVENT: &str = "INSERT INTO events VALUES ($1, now(), $2)";
const DELIVERY: &str = "INSERT INTO deliveries VALUES ($1, $1, $2, 'pending', now(), 0)";
const FIND: &str =
    "SELECT d.id, d.destination_id FROM deliveries d WHERE d.status = 'pending' AND d.due_at <= now()
     ORDER BY d.due_at, d.id FOR UPDATE SKIP LOCKED LIMIT 1";
const CLAIM: &str = "UPDATE deliveries SET status = 'delivering', attempts = attempts + 1 WHERE id = $1";
const COUNT_UP: &str =
    "UPDATE destinations SET in_flight = in_flight + 1 WHERE id = $1 AND in_flight < max_concurrency";
const ATTEMPT: &str = "INSERT INTO attempts VALUES ($1, $1, now(), 200)";
const END: &str = "UPDATE deliveries SET status = 'delivered' WHERE id = $1";
const COUNT_DOWN: &str = "UPDATE destinations SET in_flight = in_flight - 1 WHERE id = $1";

impl Tables {
    pub(super) async fn make(design: Design, url: &str, destinations: u64) -> anyhow::Result<Tables> {
        let client = connect(url).await?;
        client.batch_execute(MAKE).await.context("make the tables of the textbook")?;
        let fill = "INSERT INTO destinations SELECT number, 0, $2::int8 FROM generate_series(0, $1::int8 - 1) AS number";
        let count = i64::try_from(destinations).context("that many destinations")?;
        client.execute(fill, &[&count, &MAX_CONCURRENCY]).await.context("make the destinations")?;
        Ok(Tables { design, url: url.to_owned(), destinations })
    }

    /// So many lives, by so many workers at once.
    pub(super) async fn live(&self, events: u64, workers: u16, size_bytes: u32) -> anyhow::Result<()> {
        let (next, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let mut running = JoinSet::new();
        for _ in 0..workers {
            let worker = Worker::new(self, usize::try_from(size_bytes)?).await?;
            running.spawn(worker.run(events, Arc::clone(&next), Arc::clone(&done)));
        }
        while let Some(ended) = running.join_next().await {
            ended.context("a worker of the textbook broke")??;
        }
        let done = done.load(Ordering::Relaxed);
        anyhow::ensure!(done == events, "the textbook lived {done} of {events} lives");
        Ok(())
    }
}

struct Worker {
    design: Design,
    client: Client,
    destinations: u64,
    body: Vec<u8>,
    statements: [Statement; 8],
}

impl Worker {
    async fn new(tables: &Tables, size_bytes: usize) -> anyhow::Result<Worker> {
        let client = connect(&tables.url).await?;
        let mut statements = Vec::new();
        for text in [EVENT, DELIVERY, FIND, CLAIM, COUNT_UP, ATTEMPT, END, COUNT_DOWN] {
            statements.push(client.prepare(text).await.context("prepare a statement of the textbook")?);
        }
        let statements = statements.try_into().map_err(|_| anyhow::anyhow!("eight statements"))?;
        let Tables { design, destinations, .. } = *tables;
        Ok(Worker { design, client, destinations, body: vec![b'x'; size_bytes], statements })
    }

    /// Accepts an event, claims a delivery, records its end; until as many were accepted as were asked for and all that
    /// it can find are done.
    async fn run(mut self, events: u64, next: Arc<AtomicU64>, done: Arc<AtomicU64>) -> anyhow::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number < events {
                self.accept(number).await?;
            } else if done.load(Ordering::Relaxed) >= events {
                return Ok(());
            }
            match self.claim().await? {
                Some((id, destination)) => {
                    self.finish(id, destination).await?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                None => tokio::task::yield_now().await,
            }
        }
    }

    async fn accept(&mut self, number: u64) -> anyhow::Result<()> {
        let (id, to) = (i64::try_from(number)?, i64::try_from(number % self.destinations)?);
        let [event, delivery, ..] = &self.statements;
        let change = self.client.transaction().await?;
        change.execute(event, &[&id, &self.body]).await?;
        change.execute(delivery, &[&id, &to]).await?;
        Ok(change.commit().await?)
    }

    async fn claim(&mut self) -> anyhow::Result<Option<(i64, i64)>> {
        let [_, _, find, claim, count_up, ..] = &self.statements;
        let change = self.client.transaction().await?;
        let Some(row) = change.query_opt(find, &[]).await? else { return Ok(None) };
        let (id, destination): (i64, i64) = (row.get(0), row.get(1));
        if self.design == Design::Counter && change.execute(count_up, &[&destination]).await? == 0 {
            return Ok(None);
        }
        change.execute(claim, &[&id]).await?;
        change.commit().await?;
        Ok(Some((id, destination)))
    }

    async fn finish(&mut self, id: i64, destination: i64) -> anyhow::Result<()> {
        let [.., attempt, end, count_down] = &self.statements;
        let change = self.client.transaction().await?;
        change.execute(attempt, &[&id]).await?;
        change.execute(end, &[&id]).await?;
        if self.design == Design::Counter {
            change.execute(count_down, &[&destination]).await?;
        }
        Ok(change.commit().await?)
    }
}
