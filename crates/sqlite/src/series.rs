//! Rings of what happened when, in `live.db`: one row for each point, whose place is its number within the ring.

use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, uint};
use postrider_store::{Moment, Ring, SeriesPoint};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Without a sync, as with circuits: a power cut costs the last moments of a chart.
pub(crate) fn write(live: &mut Connection, points: &[SeriesPoint]) -> rusqlite::Result<()> {
    live.pragma_update(None, "synchronous", "NORMAL")?;
    let written = write_all(live, points);
    live.pragma_update(None, "synchronous", "FULL")?;
    written
}

fn write_all(live: &mut Connection, points: &[SeriesPoint]) -> rusqlite::Result<()> {
    let change = live.transaction()?;
    {
        let mut put = change.prepare_cached("INSERT OR REPLACE INTO series VALUES (?1, ?2, ?3, ?4)")?;
        for SeriesPoint { ring, point, moment } in points {
            let place = int(point % ring.points());
            put.execute(params![ring.number(), place, int(*point), moment.to_bytes()])?;
        }
    }
    change.commit()
}

pub(crate) fn read(reader: &mut Reader, ring: Ring, since: u64) -> rusqlite::Result<Vec<SeriesPoint>> {
    let mut select = reader
        .live()
        .prepare_cached("SELECT point, moment FROM series WHERE ring = ?1 AND point >= ?2 ORDER BY point")?;
    let rows = select.query_map(params![ring.number(), int(since)], |row| {
        Ok(SeriesPoint { ring, point: uint(row.get(0)?), moment: read_moment(row, 1)? })
    })?;
    rows.collect()
}

pub(crate) fn read_one(reader: &mut Reader, ring: Ring, point: u64) -> rusqlite::Result<Option<Moment>> {
    let mut select = reader
        .live()
        .prepare_cached("SELECT moment FROM series WHERE ring = ?1 AND place = ?2 AND point = ?3")?;
    let key = params![ring.number(), int(point % ring.points()), int(point)];
    select.query_row(key, |row| read_moment(row, 0)).optional()
}

fn read_moment(row: &Row<'_>, index: usize) -> rusqlite::Result<Moment> {
    Moment::from_bytes(row.get_ref(index)?.as_blob()?).ok_or_else(|| corrupt("a moment"))
}
