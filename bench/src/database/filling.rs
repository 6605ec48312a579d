//! Fills a schema with lives of before, for the run that has much behind it. A sample is lived by the program's own
//! nodes, and the server copies its rows with other, earlier ids: to live them all would take ten times as long.
//!
//! Copies are what the store wrote in all but their ids and the times in them: as many, as large, in the same partitions
//! and indexes.

use super::schema::connect;
use crate::progress::progress;
use anyhow::Context as _;
use tokio_postgres::Client;

/// Lives that are copied together.
const SAMPLE: u64 = 1000;
/// Samples that are copied in one transaction.
const TRANSACTION: u64 = 250;
/// Between two ids of one node.
const STEP: i64 = 1024;

/// What is copied.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Lives that are over.
    Finished,
    /// Lives that have only begun.
    Pending,
}

/// Rows of one table, and which of its columns are ids; the first is the event's.
struct Rows {
    table: &'static str,
    ids: &'static [&'static str],
    of: &'static str,
}

impl Kind {
    const fn rows(self) -> [Rows; 2] {
        let events = Rows { table: "events", ids: &["id"], of: "true" };
        match self {
            Kind::Finished => {
                let ids = &["event_id", "id", "delivery_id"];
                [events, Rows { table: "attempts", ids, of: "true" }]
            }
            Kind::Pending => {
                let owed = Rows { of: "id >= (SELECT min(event_id) FROM queue)", ..events };
                [owed, Rows { table: "queue", ids: &["event_id", "delivery_id"], of: "true" }]
            }
        }
    }
}

/// How many of so many lives are lived, so that the rest are whole copies of the sample.
pub(super) const fn lived(all: u64) -> u64 {
    if all < 2 * SAMPLE { all } else { SAMPLE + all % SAMPLE }
}

/// Copies the first lives of this kind, until there are so many.
pub(super) async fn copy(url: &str, kind: Kind, all: u64) -> anyhow::Result<()> {
    let copies = (all - lived(all)) / SAMPLE;
    if copies == 0 {
        return Ok(());
    }
    let earlier = Earlier::before(&connect(url).await?, kind, copies).await?;
    // A connection for each table: the server writes them beside each other.
    let [events, others] = kind.rows();
    tokio::try_join!(copy_rows(url, events, &earlier), copy_rows(url, others, &earlier))?;
    Ok(())
}

/// Looks that all are there, and brings the server to rest: what it would do about the rows in the minutes to come would count as the run's.
pub(super) async fn settle(url: &str, finished: u64, pending: u64) -> anyhow::Result<()> {
    let client = connect(url).await?;
    for (table, rows) in [("queue", pending), ("attempts", finished), ("events", finished + pending)] {
        client.batch_execute(&format!("VACUUM (ANALYZE) {table}")).await.context("vacuum a table")?;
        let count = format!("SELECT count(*) FROM {table}");
        let found: i64 =
            client.query_one(&count, &[]).await.context("count the rows of a table")?.try_get(0)?;
        anyhow::ensure!(u64::try_from(found)? == rows, "{table} has {found} rows and should have {rows}");
    }
    // Only some roles may; without it the server writes its pages while it is measured.
    if client.batch_execute("CHECKPOINT").await.is_err() {
        progress!("  this role may not make a checkpoint: the server may be busy with one");
    }
    Ok(())
}

/// By how much ids of copies are less than those of the sample.
struct Earlier {
    copies: u64,
    /// Those of the last copy: it goes before all that is there.
    last: i64,
    /// From one copy to the next.
    each: i64,
}

impl Earlier {
    async fn before(client: &Client, kind: Kind, copies: u64) -> anyhow::Result<Self> {
        let [events, others] = kind.rows();
        let ids = others.ids.iter().map(|id| format!("max({id})")).collect::<Vec<_>>().join(", ");
        let ask = format!(
            "SELECT greatest({ids}), (SELECT min(id) FROM events), (SELECT min(id) FROM events WHERE {})
             FROM {}",
            events.of, others.table
        );
        let row = client.query_one(&ask, &[]).await.context("look at the sample")?;
        let [greatest, least, first]: [i64; 3] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?];
        Ok(Earlier { copies, last: greatest - least + STEP, each: greatest - first + STEP })
    }
}

async fn copy_rows(url: &str, rows: Rows, earlier: &Earlier) -> anyhow::Result<()> {
    let Rows { table, ids, of } = rows;
    let (client, event) = (connect(url).await?, ids[0]);
    // Nothing of it has to outlive a crash.
    let begin = format!(
        "SET synchronous_commit = off;
         CREATE TEMPORARY TABLE sample AS SELECT * FROM {table} WHERE {of} ORDER BY {event} LIMIT {SAMPLE}"
    );
    client.batch_execute(&begin).await.context("take a sample")?;
    let columns = columns(&client, table, ids, earlier).await?;
    for from in (0..earlier.copies).step_by(usize::try_from(TRANSACTION)?) {
        let until = (from + TRANSACTION).min(earlier.copies) - 1;
        // The earliest first, so that indexes grow at their end as they do when events are lived.
        let copy = format!(
            "DO $$ BEGIN FOR copy IN {from}..{until} LOOP
                 INSERT INTO {table} SELECT {columns} FROM sample ORDER BY {event};
             END LOOP; END $$"
        );
        client.batch_execute(&copy).await.with_context(|| format!("copy rows of {table}"))?;
    }
    Ok(())
}

/// All columns of a table in its order, as a copy has them.
async fn columns(client: &Client, table: &str, ids: &[&str], earlier: &Earlier) -> anyhow::Result<String> {
    let Earlier { copies, last, each } = earlier;
    let names = "SELECT attname::text FROM pg_attribute
         WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
    let found = client.query(names, &[&table]).await.context("list the columns of a table")?;
    let copied = |row: &tokio_postgres::Row| {
        let name: String = row.try_get(0)?;
        let is_id = ids.contains(&name.as_str());
        Ok(if is_id { format!("{name} - ({last} + ({copies} - 1 - copy)::int8 * {each})") } else { name })
    };
    Ok(found.iter().map(copied).collect::<anyhow::Result<Vec<String>>>()?.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_lived_is_a_whole_number_of_samples() {
        for (all, expected) in [(0, 0), (1, 1), (1999, 1999), (2000, 1000), (2001, 1001), (10_000_000, 1000)]
        {
            assert_eq!((lived(all), (all - lived(all)) % SAMPLE), (expected, 0), "{all}");
        }
    }
}
