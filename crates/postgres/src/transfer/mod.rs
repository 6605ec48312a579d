//! A database that everything is moved from or into, while no node uses it.

mod head;
mod rows;

use crate::error::{OpenError, QueryError};
use crate::open::{CONNECTIONS_MAX, first_connection, is_half_moved, pool, prepared};
use crate::values::{column, uint};
use crate::{keys, partitions, url};
use async_trait::async_trait;
use deadpool_postgres::Object;
use postrider_core::id::time_of;
use postrider_store::transfer::{Begun, Chunk, Head, Position, Table, Transfer};
use postrider_store::{StoreError, Vault};
use rows::Place;
use std::collections::BTreeSet;
use std::time::Duration;

/// A database to be moved.
pub struct PostgresTransfer {
    client: Object,
    vault: Vault,
    place: String,
    /// Days that have partitions.
    days: BTreeSet<u64>,
}

impl PostgresTransfer {
    /// Opens a database that is to be read, and keeps nodes from joining until this is dropped.
    pub async fn source(url: &str, vault: Option<Vault>) -> Result<Self, OpenError> {
        let (client, place) = existing(url).await?;
        let store = PostgresTransfer::prepare(client, vault, place).await?;
        store.refuse_nodes().await?;
        // One snapshot of all tables; who wants to join waits for its end.
        let hold = "SET idle_in_transaction_session_timeout = 0;
             BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE members IN SHARE ROW EXCLUSIVE MODE";
        store.client.batch_execute(hold).await.map_err(QueryError::from)?;
        store.refuse_nodes().await?;
        Ok(store)
    }

    /// Opens a database that is to be written, setting it up if it is empty.
    pub async fn target(url: &str, vault: Option<Vault>) -> Result<Self, OpenError> {
        let (client, place) = connected(url).await?;
        let store = PostgresTransfer::prepare(client, vault, place).await?;
        store.refuse_nodes().await?;
        Ok(store)
    }

    async fn prepare(mut client: Object, vault: Option<Vault>, place: String) -> Result<Self, OpenError> {
        prepared(&mut client).await?;
        let vault = keys::vault(&client, vault).await?;
        let days = partitions::days(&client).await?;
        Ok(PostgresTransfer { client, vault, place, days })
    }

    async fn refuse_nodes(&self) -> Result<(), OpenError> {
        let alive = "SELECT string_agg(name, ', ') FROM members WHERE lease_until > now()";
        let row = self.client.query_one(alive, &[]).await.map_err(QueryError::from)?;
        match column::<Option<String>>(&row, 0)? {
            Some(names) => {
                Err(OpenError::Database(format!("nodes are running on it ({names}); stop them first")))
            }
            None => Ok(()),
        }
    }

    async fn begin_from(&mut self, from: &str) -> Result<Begun, QueryError> {
        let begun = "SELECT source, at_table, position, finished FROM migration";
        if let Some(row) = self.client.query_opt(begun, &[]).await? {
            let (source, finished): (&str, bool) = (column(&row, 0)?, column(&row, 3)?);
            if finished || source != from {
                return Ok(Begun::NotEmpty);
            }
            let table = Table::from_name(column(&row, 1)?).ok_or(QueryError::Corrupt("a table"))?;
            return Ok(Begun::Again(table, column::<Option<String>>(&row, 2)?.map(Position)));
        }
        let any = "SELECT EXISTS (SELECT FROM configuration) OR EXISTS (SELECT FROM events)
             OR EXISTS (SELECT FROM members)";
        if column(&self.client.query_one(any, &[]).await?, 0)? {
            return Ok(Begun::NotEmpty);
        }
        let begin = "INSERT INTO migration VALUES (1, $1, $2, NULL, false)";
        self.client.execute(begin, &[&from, &Table::Events.name()]).await?;
        Ok(Begun::Anew)
    }

    async fn write_chunk(&mut self, table: Table, chunk: &Chunk) -> Result<(), QueryError> {
        self.make_days(table, chunk).await?;
        let change = self.client.transaction().await?;
        rows::insert(&change, table, &chunk.rows).await?;
        let after = chunk.next.as_ref().map(|position| position.0.as_str());
        change.execute("UPDATE migration SET at_table = $1, position = $2", &[&table.name(), &after]).await?;
        Ok(change.commit().await?)
    }

    /// The days that these rows fall into. What is past its retention goes as soon as a node keeps house.
    async fn make_days(&mut self, table: Table, chunk: &Chunk) -> Result<(), QueryError> {
        let day_of = |row| match table {
            Table::Idempotency => rows::day_bound(row),
            _ => time_of(uint(row.int(table, table.event_column()))).day(),
        };
        let wanted: BTreeSet<u64> = match table {
            Table::Queue => BTreeSet::new(),
            _ => chunk.rows.iter().map(day_of).collect(),
        };
        for day in wanted {
            if self.days.insert(day) {
                partitions::make_day(&mut self.client, day).await?;
            }
        }
        Ok(())
    }
}

/// A connection outside of any cluster, and where it goes.
async fn connected(url: &str) -> Result<(Object, String), OpenError> {
    let (config, tls) = crate::open::address(url)?;
    // A chunk that takes long must not be cut off as that of a frozen node would be.
    let pool = pool(&config, &tls, Duration::from_secs(3600), CONNECTIONS_MAX)?;
    Ok((first_connection(&pool).await?, url::shown(&config)))
}

/// The same to a database with a store in it, which is left as it is.
pub(crate) async fn existing(url: &str) -> Result<(Object, String), OpenError> {
    let (client, place) = connected(url).await?;
    let there = client.query_one("SELECT to_regclass('members') IS NOT NULL", &[]).await;
    let there: bool = there.map_err(QueryError::from).and_then(|row| column(&row, 0))?;
    if !there {
        return Err(OpenError::Database("there is no store of Postrider in it".into()));
    }
    Ok((client, place))
}

#[async_trait]
impl Transfer for PostgresTransfer {
    fn place(&self) -> String {
        self.place.clone()
    }

    async fn is_half_moved(&mut self) -> Result<bool, StoreError> {
        Ok(is_half_moved(&self.client).await?)
    }

    async fn head(&mut self) -> Result<Head, StoreError> {
        head::read(&self.client, &self.vault).await?
    }

    async fn count(&mut self, table: Table) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {}", table.name());
        let row = self.client.query_one(&count, &[]).await.map_err(QueryError::from)?;
        Ok(column(&row, 0).map(uint)?)
    }

    async fn read(&mut self, table: Table, after: Option<&Position>) -> Result<Chunk, StoreError> {
        let after = after.map(|position| Place::parse(table, position)).transpose()?;
        Ok(rows::read(&self.client, table, after.as_ref()).await?)
    }

    async fn begin(&mut self, from: &str) -> Result<Begun, StoreError> {
        Ok(self.begin_from(from).await?)
    }

    async fn write(&mut self, table: Table, chunk: &Chunk) -> Result<(), StoreError> {
        Ok(self.write_chunk(table, chunk).await?)
    }

    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError> {
        Ok(head::write(&mut self.client, &self.vault, head).await?)
    }

    async fn finish(&mut self) -> Result<(), StoreError> {
        let finish = "UPDATE migration SET finished = true";
        self.client.execute(finish, &[]).await.map_err(QueryError::from)?;
        Ok(())
    }
}
