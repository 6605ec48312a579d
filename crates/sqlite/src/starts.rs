//! Starts of attempts that are noted before they are made. Each is in the segment of its event, so that the commit that
//! writes the outcome removes it.
//!
//! Beside each stands how many unclean stops there had been. So no start writes anything to count one, and it is counted
//! once, however often the next start is cut off as well.

use crate::reader::Reader;
use crate::rows::{int, uint};
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_store::Start;
use rusqlite::{Connection, params};

/// Starts that were noted and not removed when the last of so many unclean stops came.
pub(crate) fn interrupted(reader: &mut Reader, unclean_stops: i64) -> rusqlite::Result<Vec<Start>> {
    let mut found = Vec::new();
    if unclean_stops == 0 {
        return Ok(found);
    }
    for segment in reader.segments()? {
        let Some(segment) = reader.segment(segment.number)? else { continue };
        let mut select = segment.prepare_cached(
            "SELECT delivery_id, event_id, destination_id, stops FROM starts WHERE stops_before = ?1",
        )?;
        let rows = select.query_map([unclean_stops - 1], |row| {
            let stops: u32 = row.get(3)?;
            Ok(Start {
                delivery: DeliveryId::from_u64(uint(row.get(0)?)),
                event: EventId::from_u64(uint(row.get(1)?)),
                destination: DestinationId::from_u64(uint(row.get(2)?)),
                stops: stops.saturating_add(1),
            })
        })?;
        for start in rows {
            found.push(start?);
        }
    }
    Ok(found)
}

/// Notes a start, in the place of what is noted of the same delivery.
pub(crate) fn note(change: &Connection, start: &Start, unclean_stops: i64) -> rusqlite::Result<()> {
    let mut note = change.prepare_cached("INSERT OR REPLACE INTO starts VALUES (?1, ?2, ?3, ?4, ?5)")?;
    note.execute(params![
        int(start.delivery.as_u64()),
        int(start.event.as_u64()),
        int(start.destination.as_u64()),
        start.stops,
        unclean_stops,
    ])?;
    Ok(())
}

pub(crate) fn forget(change: &Connection, start: &Start) -> rusqlite::Result<()> {
    let mut forget = change.prepare_cached("DELETE FROM starts WHERE delivery_id = ?1")?;
    forget.execute([int(start.delivery.as_u64())]).map(drop)
}
