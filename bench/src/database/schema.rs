//! A schema that is made for one measurement and dropped after it.

use anyhow::Context as _;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_postgres::{Client, NoTls};

static MADE: AtomicU32 = AtomicU32::new(0);

pub(super) struct Schema {
    pub(super) name: String,
    /// Leads into the schema.
    pub(super) url: String,
    base: String,
}

impl Schema {
    pub(super) async fn make(base: &str) -> anyhow::Result<Schema> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("postrider_bench_{}_{number}", std::process::id());
        connect(base)
            .await?
            .batch_execute(&format!("CREATE SCHEMA {name}"))
            .await
            .context("make a schema")?;
        let joint = if base.contains('?') { '&' } else { '?' };
        let url = format!("{base}{joint}options=-c%20search_path%3D{name}");
        Ok(Schema { name, url, base: base.to_owned() })
    }

    pub(super) async fn drop(self) -> anyhow::Result<()> {
        let client = connect(&self.base).await?;
        // Many tables at once need more locks than a small server has, so each goes by itself.
        let tables = "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
             JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition";
        for row in client.query(tables, &[&self.name]).await.context("list the tables of a schema")? {
            let table: String = row.get(0);
            client.batch_execute(&format!("DROP TABLE {table} CASCADE")).await.context("drop a table")?;
        }
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        client.batch_execute(&drop).await.context("drop a schema")
    }
}

/// A connection of its own, without TLS: what is measured is the server.
pub(super) async fn connect(url: &str) -> anyhow::Result<Client> {
    let connected = tokio_postgres::connect(url, NoTls).await;
    // The URL may have a password in it, so it is not repeated.
    let (client, connection) = connected.context("connect to the database of --database-url")?;
    tokio::spawn(connection);
    Ok(client)
}
