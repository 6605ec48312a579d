//! Moving everything from one store to another, row by row and below the verbs of [`Store`](crate::Store): history is
//! to arrive as it is, and not to happen again.
//!
//! The many rows are moved table by table in chunks, each with the position that follows it, so that a move that was
//! cut off goes on where it was. The few are the [`Head`], written whole at the end.

mod checksum;
mod table;

pub use checksum::Checksum;
pub use table::{Cell, Column, Row, Table};

use crate::audit::AuditRecord;
use crate::codec::fingerprint;
use crate::configuration::Change;
use crate::error::StoreError;
use crate::replay::Replay;
use crate::stats::Counts;
use async_trait::async_trait;
use postrider_core::breaker::CircuitRecord;
use postrider_core::id::{AccountId, DestinationId};
use std::collections::BTreeMap;

/// Rows moved at once.
pub const CHUNK_ROWS: usize = 1000;
/// Bytes after which a chunk is full.
pub const CHUNK_BYTES: usize = 8 << 20;

/// A store that rows are read from or written to. No gateway uses it meanwhile.
#[async_trait]
pub trait Transfer: Send {
    /// Where it is, without credentials.
    fn place(&self) -> String;

    /// Whether a move into it was begun and not finished.
    async fn is_half_moved(&mut self) -> Result<bool, StoreError>;

    /// What is not moved by tables.
    async fn head(&mut self) -> Result<Head, StoreError>;

    /// How many rows a table has.
    async fn count(&mut self, table: Table) -> Result<u64, StoreError>;

    /// The next rows of a table in the store's own order; none at the end.
    async fn read(&mut self, table: Table, after: Option<&Position>) -> Result<Chunk, StoreError>;

    /// Takes the store for a move from there; gives how far an earlier run of the same move has come.
    async fn begin(&mut self, from: &str) -> Result<Begun, StoreError>;

    /// Writes rows, and with them that they are written. Events come before what belongs to them.
    async fn write(&mut self, table: Table, chunk: &Chunk) -> Result<(), StoreError>;

    /// Writes the rest, in place of any that is there.
    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError>;

    /// Notes that all of it is there and the same: from now on gateways may use the store.
    async fn finish(&mut self) -> Result<(), StoreError>;
}

/// A place in a table, in the words of the store that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position(pub String);

/// Some rows of a table.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// The rows.
    pub rows: Vec<Row>,
    /// Where the next begin; `None` behind the last.
    pub next: Option<Position>,
}

/// What a target says to a move that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is empty.
    Anew,
    /// This table is to be gone on with; those before it are done.
    Again(Table, Option<Position>),
    /// It has data that is not of this move.
    NotEmpty,
}

/// The few rows.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// All that is configured.
    pub configuration: Vec<Change>,
    /// Circuits that are not closed.
    pub circuits: Vec<(DestinationId, CircuitRecord)>,
    /// Jobs.
    pub replays: Vec<Replay>,
    /// Who changed what.
    pub audit: Vec<AuditRecord>,
    /// What was counted.
    pub stats: Vec<CountedDay>,
    /// The last run did not stop in order.
    pub unclean_stop: bool,
    /// Ids are greater than this from now on.
    pub id_floor: u64,
    /// What the admin key is recognised by, where the store keeps it.
    pub admin_key_hash: Option<[u8; 32]>,
}

/// What was counted on a day for events of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedDay {
    /// Whose.
    pub account: AccountId,
    /// The day of the events; `None` when they are dropped.
    pub event_day: Option<u64>,
    /// The day on which it happened; 0 for those that are not told apart any more.
    pub day: u64,
    /// What happened.
    pub counts: Counts,
}

impl Head {
    /// What must be the same on both sides, in a form that can be compared and tells no secret.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        for change in &self.configuration {
            let (name, print) = fingerprint(change);
            facts.insert(name, print);
        }
        for (id, record) in &self.circuits {
            facts.insert(format!("circuit {id}"), format!("{record:?}"));
        }
        for replay in &self.replays {
            facts.insert(format!("replay {}", replay.id), format!("{replay:?}"));
        }
        for record in &self.audit {
            facts.insert(format!("audit {}", record.id), format!("{record:?}"));
        }
        let mut days: BTreeMap<(AccountId, u64), Counts> = BTreeMap::new();
        for one in &self.stats {
            days.entry((one.account, one.day)).or_default().add(one.counts);
        }
        for ((account, day), counts) in days {
            facts.insert(format!("figures of {account} on day {day}"), format!("{counts:?}"));
        }
        facts
    }
}
