//! A data directory that everything is moved from or into. Rows are replaced by their keys, so what was written before
//! a move was cut off may be written again.

mod cells;
mod head;
mod target;

use crate::checkpoint::{self, Failure};
use crate::closing::bring_in_for_good;
use crate::error::{OpenError, store_error};
use crate::lock::DataDirectory;
use crate::open::{check_live, connect_or_make, database_error, is_half_moved, migrate_live};
use crate::segment::{self, Listed};
use crate::write_ahead_log;
use async_trait::async_trait;
use cells::{Place, columns, keys, read_row};
use postrider_store::transfer::{Begun, CHUNK_BYTES, CHUNK_ROWS, Chunk, Head, Position, Table, Transfer};
use postrider_store::{StoreError, Vault};
use rusqlite::Connection;

/// An embedded store to be moved.
pub struct SqliteTransfer {
    live: Connection,
    vault: Vault,
    segments: Vec<Listed>,
    /// The one that was used last.
    open: Option<(i64, Connection)>,
    failure: Failure,
    directory: DataDirectory,
}

impl SqliteTransfer {
    /// Takes a data directory, making a store in it if there is none.
    pub fn open(directory: DataDirectory, vault: Vault) -> Result<Self, OpenError> {
        write_ahead_log::check_all(directory.path())?;
        let path = directory.path().join("live.db");
        check_live(&path, directory.path())?;
        let refuse = |error: rusqlite::Error| database_error(&path, &store_error(&error).to_string());
        let mut live = connect_or_make(&path).map_err(refuse)?;
        migrate_live(&mut live, &path)?;
        let segments = segment::list(&live).map_err(refuse)?;
        // A move that was cut off may have listed one that it had not made yet.
        if !is_half_moved(&live).map_err(refuse)? {
            segment::check_files(directory.path(), &segments)?;
        }
        Ok(SqliteTransfer { live, vault, segments, open: None, failure: Failure::default(), directory })
    }

    fn segment(&mut self, number: i64) -> rusqlite::Result<&mut Connection> {
        if self.open.as_ref().is_none_or(|(known, _)| *known != number) {
            self.close_segment();
            let path = segment::path(self.directory.path(), number);
            let mut connection = segment::create(&path)?;
            checkpoint::after_commits(&mut connection, &self.failure)?;
            self.open = Some((number, connection));
        }
        Ok(&mut self.open.as_mut().expect("it was put there").1)
    }

    fn close_segment(&mut self) {
        if let Some((_, segment)) = self.open.take() {
            self.bring_in(&segment);
        }
    }

    /// After a sync that failed no file is touched.
    fn bring_in(&self, file: &Connection) {
        if self.failure.check().is_ok() {
            self.failure.note(bring_in_for_good(file));
        }
    }

    fn bring_all_in(&mut self) {
        self.close_segment();
        self.bring_in(&self.live);
    }

    fn count_all(&mut self, table: Table) -> rusqlite::Result<u64> {
        let mut sum = 0;
        for listed in self.segments.clone() {
            let count = format!("SELECT count(*) FROM {}", table.name());
            let rows: i64 = self.segment(listed.number)?.query_row(&count, [], |row| row.get(0))?;
            sum += crate::rows::uint(rows);
        }
        Ok(sum)
    }

    fn read_chunk(&mut self, table: Table, after: Option<&Place>) -> rusqlite::Result<Chunk> {
        let begun = after.map_or(0, |place| place.segment);
        let numbers: Vec<i64> =
            self.segments.iter().map(|listed| listed.number).filter(|number| *number >= begun).collect();
        for number in numbers {
            let behind = after.filter(|place| place.segment == number);
            let chunk = read_segment(self.segment(number)?, table, number, behind)?;
            if !chunk.rows.is_empty() {
                return Ok(chunk);
            }
        }
        Ok(Chunk::default())
    }
}

fn read_segment(
    segment: &Connection,
    table: Table,
    number: i64,
    behind: Option<&Place>,
) -> rusqlite::Result<Chunk> {
    let (columns, keys) = (columns(table), keys(table).join(", "));
    let from = match table {
        // They do not know whose they are; their events do, and are in the same file.
        Table::Attempts | Table::Idempotency => {
            format!("{} t CROSS JOIN events e ON e.id = t.event_id", table.name())
        }
        Table::Events | Table::DeadLetters | Table::Queue => format!("{} t", table.name()),
    };
    let behind = behind.map_or_else(String::new, |place| format!("WHERE ({keys}) > ({})", place.literals()));
    let sql = format!("SELECT {columns} FROM {from} {behind} ORDER BY {keys} LIMIT {CHUNK_ROWS}");
    let mut select = segment.prepare(&sql)?;
    let mut found = select.query([])?;
    let (mut chunk, mut bytes) = (Chunk::default(), 0);
    while let Some(row) = found.next()?.filter(|_| bytes < CHUNK_BYTES) {
        let row = read_row(table, row)?;
        bytes += row.bytes();
        chunk.rows.push(row);
    }
    chunk.next = chunk.rows.last().map(|row| Place::of(table, number, row).to_position());
    Ok(chunk)
}

fn told<T>(done: rusqlite::Result<T>) -> Result<T, StoreError> {
    done.map_err(|error| store_error(&error))
}

#[async_trait]
impl Transfer for SqliteTransfer {
    fn place(&self) -> String {
        let path = self.directory.path();
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        format!("sqlite:{}", path.display())
    }

    async fn is_half_moved(&mut self) -> Result<bool, StoreError> {
        told(is_half_moved(&self.live))
    }

    async fn head(&mut self) -> Result<Head, StoreError> {
        self.read_head()
    }

    async fn count(&mut self, table: Table) -> Result<u64, StoreError> {
        told(self.count_all(table))
    }

    async fn read(&mut self, table: Table, after: Option<&Position>) -> Result<Chunk, StoreError> {
        let after = after.map(|position| Place::parse(table, position)).transpose()?;
        told(self.read_chunk(table, after.as_ref()))
    }

    async fn begin(&mut self, from: &str) -> Result<Begun, StoreError> {
        told(self.begin_from(from))
    }

    async fn write(&mut self, table: Table, chunk: &Chunk) -> Result<(), StoreError> {
        told(self.write_chunk(table, chunk))?;
        self.failure.check()
    }

    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError> {
        told(self.write_head(head))
    }

    async fn finish(&mut self) -> Result<(), StoreError> {
        told(self.live.execute("UPDATE migration SET finished = 1", []).map(drop))?;
        self.bring_all_in();
        self.failure.check()
    }
}

impl Drop for SqliteTransfer {
    fn drop(&mut self) {
        self.bring_all_in();
    }
}
