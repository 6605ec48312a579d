//! What is not moved by tables: configuration, circuits, replays, the audit log and figures.

use crate::audit_log;
use crate::configuration;
use crate::error::QueryError;
use crate::replays;
use crate::values::{column, int, uint};
use deadpool_postgres::{GenericClient, Object, Transaction};
use postrider_core::id::AccountId;
use postrider_store::codec::{Document, Edit, Kind, edits};
use postrider_store::transfer::{CHUNK_ROWS, CountedDay, Head};
use postrider_store::{Change, Counts, StoreError, Vault};
use std::collections::BTreeMap;

pub(super) async fn read(
    client: &impl GenericClient,
    vault: &Vault,
) -> Result<Result<Head, StoreError>, QueryError> {
    let mut head = Head {
        circuits: configuration::circuits(client).await?,
        replays: replays::read_all(client).await?,
        audit: audit_log::read_all(client).await?,
        stats: stats(client).await?,
        id_floor: configuration::id_floor(client).await?,
        ..Head::default()
    };
    let rows = "SELECT kind, id, document FROM configuration WHERE document IS NOT NULL ORDER BY id";
    for row in client.query(rows, &[]).await? {
        let kind = Kind::from_word(column(&row, 0)?).ok_or(QueryError::Corrupt("a kind of configuration"))?;
        let document = Document { kind, id: uint(column(&row, 1)?), text: column(&row, 2)? };
        match Change::put(&document, vault) {
            Ok(change) => head.configuration.push(change),
            Err(bad) => return Ok(Err(StoreError::Broken(bad.to_string()))),
        }
    }
    let asked = "SELECT EXISTS (SELECT FROM shards WHERE owner IS NOT NULL OR NOT clean),
            (SELECT admin_key_hash FROM cluster)";
    let row = client.query_one(asked, &[]).await?;
    head.unclean_stop = column(&row, 0)?;
    head.admin_key_hash = column::<Option<Vec<u8>>>(&row, 1)?.and_then(|hash| hash.try_into().ok());
    Ok(Ok(head))
}

async fn stats(client: &impl GenericClient) -> Result<Vec<CountedDay>, QueryError> {
    let sums =
        "SELECT account_id, event_day, day, sum(inbound)::int8, sum(outbound)::int8, sum(attempts)::int8,
            sum(delivered)::int8, sum(failed)::int8, sum(unrouted)::int8, sum(queued)::int8,
            sum(retry_scheduled)::int8, sum(dead)::int8
         FROM stats GROUP BY account_id, event_day, day";
    let read = |row: &tokio_postgres::Row| {
        let mut parts = [0; Counts::PARTS];
        for (index, part) in parts.iter_mut().enumerate() {
            *part = column(row, index + 3)?;
        }
        let (event_day, day): (i32, i32) = (column(row, 1)?, column(row, 2)?);
        Ok(CountedDay {
            account: AccountId::from_u64(uint(column(row, 0)?)),
            event_day: u64::try_from(event_day).ok(),
            day: uint(day.into()),
            counts: Counts::from_array(parts),
        })
    };
    client.query(sums, &[]).await?.iter().map(read).collect()
}

pub(super) async fn write(client: &mut Object, vault: &Vault, head: &Head) -> Result<(), QueryError> {
    let change = client.transaction().await?;
    let clear = "DELETE FROM configuration; DELETE FROM circuits; DELETE FROM replays; DELETE FROM audit; DELETE FROM stats;
         UPDATE cluster SET configuration_version = 1";
    change.batch_execute(clear).await?;
    for edit in head.configuration.iter().flat_map(|change| edits(change, vault)) {
        if let Edit::Put(Document { kind, id, text }) = edit {
            let put = "INSERT INTO configuration VALUES ($1, $2, 1, $3)";
            change.execute(put, &[&kind.as_str(), &int(id), &text]).await?;
        }
    }
    for (destination, record) in &head.circuits {
        configuration::put_circuit(&change, *destination, record.circuit, Some(record.trips)).await?;
    }
    for replay in &head.replays {
        replays::write(&change, replay).await?;
    }
    for records in head.audit.chunks(CHUNK_ROWS) {
        audit_log::add(&change, &records.iter().collect::<Vec<_>>()).await?;
    }
    write_stats(&change, &head.stats).await?;
    change.execute("UPDATE shards SET clean = $1", &[&!head.unclean_stop]).await?;
    let key = head.admin_key_hash.map(|hash| hash.to_vec());
    change.execute("UPDATE cluster SET admin_key_hash = coalesce(admin_key_hash, $1)", &[&key]).await?;
    Ok(change.commit().await?)
}

async fn write_stats(change: &Transaction<'_>, counted: &[CountedDay]) -> Result<(), QueryError> {
    let small = |day: u64| i32::try_from(day).unwrap_or(i32::MAX);
    let mut sums: BTreeMap<(u64, i32, i32), Counts> = BTreeMap::new();
    for one in counted {
        let key = (one.account.as_u64(), one.event_day.map_or(-1, small), small(one.day));
        sums.entry(key).or_default().add(one.counts);
    }
    let put = "INSERT INTO stats VALUES ($1, $2, $3, 0, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    for ((account, event_day, day), counts) in sums {
        let [a, b, c, d, e, f, g, h, i] = counts.to_array();
        change.execute(put, &[&int(account), &event_day, &day, &a, &b, &c, &d, &e, &f, &g, &h, &i]).await?;
    }
    Ok(())
}
