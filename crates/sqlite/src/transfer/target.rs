//! Writes rows into segments, one for each day of events.

use super::SqliteTransfer;
use super::cells::{checksum_of, event_of, value};
use crate::rows::{int, time};
use crate::segment::{self, Listed};
use postrider_core::id::{EventId, least_at, time_of};
use postrider_core::time::Timestamp;
use postrider_store::transfer::{Begun, Chunk, Column, Position, Row, Table};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use std::collections::BTreeMap;

impl SqliteTransfer {
    pub(super) fn begin_from(&mut self, from: &str) -> rusqlite::Result<Begun> {
        let begun =
            self.live.query_row("SELECT source, at_table, position, finished FROM migration", [], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, Option<String>>(2)?,
                    row.get::<_, bool>(3)?,
                ))
            });
        match begun.optional()? {
            Some((source, table, position, false)) if source == from => {
                let table = Table::from_name(&table).ok_or_else(|| crate::error::corrupt("a table"))?;
                Ok(Begun::Again(table, position.map(Position)))
            }
            Some(_) => Ok(Begun::NotEmpty),
            None if self.is_empty()? => {
                let begin = "INSERT INTO migration VALUES (1, ?1, ?2, NULL, 0)";
                self.live.execute(begin, params![from, Table::Events.name()])?;
                Ok(Begun::Anew)
            }
            None => Ok(Begun::NotEmpty),
        }
    }

    fn is_empty(&self) -> rusqlite::Result<bool> {
        let any = "SELECT EXISTS (SELECT 1 FROM configuration) OR EXISTS (SELECT 1 FROM segments)";
        self.live.query_row(any, [], |row| row.get(0)).map(|any: bool| !any)
    }

    pub(super) fn write_chunk(&mut self, table: Table, chunk: &Chunk) -> rusqlite::Result<()> {
        let mut by_segment: BTreeMap<i64, Vec<&Row>> = BTreeMap::new();
        for row in &chunk.rows {
            let number = self.segment_of(event_of(table, row))?;
            by_segment.entry(number).or_default().push(row);
        }
        for (number, rows) in by_segment {
            insert(self.segment(number)?, table, &rows)?;
        }
        let after = chunk.next.as_ref().map(|position| position.0.as_str());
        self.live
            .execute("UPDATE migration SET at_table = ?1, position = ?2", params![table.name(), after])?;
        Ok(())
    }

    /// The segment of an event; begun when it is the first of its day. Events come in the order of their ids.
    fn segment_of(&mut self, event: u64) -> rusqlite::Result<i64> {
        let day = time_of(event).day();
        let newest = self.segments.last().map(|listed| (listed.number, listed.opened_at.day()));
        match newest {
            Some((_, known)) if day <= known => {}
            Some((number, _)) => self.begin_segment(number + 1, least_at(Timestamp::from_day(day)), day)?,
            None => self.begin_segment(1, 0, day)?,
        }
        let found = segment::of_event(&self.segments, EventId::from_u64(event));
        found.ok_or_else(|| crate::error::corrupt("an event before the first"))
    }

    fn begin_segment(&mut self, number: i64, first_event_id: u64, day: u64) -> rusqlite::Result<()> {
        let opened_at = time(Timestamp::from_day(day));
        let change = self.live.transaction()?;
        change.execute("UPDATE segments SET sealed_at = ?1 WHERE sealed_at IS NULL", [opened_at])?;
        let begin = "INSERT INTO segments VALUES (?1, ?2, ?3, NULL)";
        change.execute(begin, params![number, int(first_event_id), opened_at])?;
        change.commit()?;
        self.segments = segment::list(&self.live)?;
        Ok(())
    }

    /// Where the figures of a day's events belong: to the segment of that day, or of the last day before it.
    pub(super) fn segment_of_day(&self, day: u64) -> Option<i64> {
        let before = |listed: &&Listed| listed.opened_at.day() <= day;
        let found = self.segments.iter().rev().find(before).or(self.segments.first());
        found.map(|listed| listed.number)
    }
}

fn insert(segment: &mut Connection, table: Table, rows: &[&Row]) -> rusqlite::Result<()> {
    // A segment's attempts and keys are their event's, which says whose they are.
    let leaves_out = |column: &Column| {
        matches!(table, Table::Attempts | Table::Idempotency) && column.name() == "account_id"
    };
    let kept: Vec<usize> =
        (0..table.columns().len()).filter(|index| !leaves_out(&table.columns()[*index])).collect();
    let mut names: Vec<&str> = kept.iter().map(|index| table.columns()[*index].name()).collect();
    if table == Table::Events {
        names.push("checksum");
    }
    let marks = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT OR REPLACE INTO {} ({}) VALUES ({marks})", table.name(), names.join(", "));
    let change = segment.transaction()?;
    {
        let mut statement = change.prepare_cached(&sql)?;
        for row in rows {
            let checksum = (table == Table::Events).then(|| Value::Integer(checksum_of(row)));
            let values = kept.iter().map(|index| value(&row.0[*index]));
            statement.execute(params_from_iter(values.chain(checksum)))?;
        }
    }
    change.commit()
}
