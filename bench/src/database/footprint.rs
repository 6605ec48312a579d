//! What lives leave behind on the server: bytes of its log, and of tables with their indexes.

use super::schema::{Schema, connect};
use anyhow::Context as _;

#[derive(Debug, Clone, Copy)]
pub(super) struct Footprint {
    /// Of the whole server, so that nobody else should use it meanwhile.
    pub(super) log_bytes: f64,
    pub(super) stored_bytes: f64,
}

impl Footprint {
    pub(super) async fn now(schema: &Schema) -> anyhow::Result<Footprint> {
        let asked = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8,
                coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relkind = 'r'";
        let row = connect(&schema.url).await?.query_one(asked, &[&schema.name]).await;
        let row = row.context("ask what is stored")?;
        Ok(Footprint { log_bytes: row.get(0), stored_bytes: row.get(1) })
    }

    /// Of one life of so many that were lived since.
    pub(super) fn a_life_since(self, before: Footprint, lives: f64) -> Footprint {
        Footprint {
            log_bytes: (self.log_bytes - before.log_bytes) / lives,
            stored_bytes: (self.stored_bytes - before.stored_bytes) / lives,
        }
    }
}
