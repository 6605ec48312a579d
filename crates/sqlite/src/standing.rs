//! Where the deliveries of events stand. Of many events at once: a filter looks through thousands of them, and a
//! statement for each costs more than what it reads.

use crate::error::corrupt;
use crate::history::read_next;
use crate::rows::{int, uint};
use postrider_core::id::{DeliveryId, EventId};
use postrider_core::outcome::DeathReason;
use postrider_store::{Dead, DeliveryState, EventFilter, Followed, Owing, Standings};
use rusqlite::Connection;

pub(crate) const DEAD_LETTERS: &str = "SELECT d.delivery_id, d.reason FROM json_each(?1) asked
     CROSS JOIN dead_letters d ON d.event_id = asked.value";
pub(crate) const ATTEMPTS: &str =
    "SELECT a.event_id, a.delivery_id, a.next, a.next_due_at FROM json_each(?1) asked
     CROSS JOIN attempts a ON a.event_id = asked.value ORDER BY a.id";

/// Of one event.
pub(crate) fn of(segment: &Connection, event: Owing<'_>) -> rusqlite::Result<Vec<DeliveryState>> {
    let dead = dead_letters(segment, &[event.event])?;
    let mut found = Owing::standings(&[event], followed(segment, &[event.event])?, &dead);
    Ok(found.remove(&event.event).unwrap_or_default())
}

/// Of those among these events that can fit: where a dead letter is asked for, the attempts of others are not read.
pub(crate) fn of_fitting(
    segment: &Connection,
    filter: &EventFilter,
    mut events: Vec<Owing<'_>>,
) -> rusqlite::Result<Standings> {
    let dead = dead_letters(segment, &ids(&events))?;
    events.retain(|event| event.can_fit(filter, &dead));
    Ok(Owing::standings(&events, followed(segment, &ids(&events))?, &dead))
}

/// What was given up on of these events.
pub(crate) fn dead_letters(segment: &Connection, events: &[EventId]) -> rusqlite::Result<Dead> {
    let mut select = segment.prepare_cached(DEAD_LETTERS)?;
    let rows = select.query_map([json(events)], |row| {
        let reason = DeathReason::from_word(row.get_ref(1)?.as_str()?).ok_or_else(|| corrupt("a reason"))?;
        Ok((DeliveryId::from_u64(uint(row.get(0)?)), reason))
    })?;
    rows.collect()
}

fn followed(segment: &Connection, events: &[EventId]) -> rusqlite::Result<Followed> {
    let mut followed = Followed::default();
    if events.is_empty() {
        return Ok(followed);
    }
    let mut select = segment.prepare_cached(ATTEMPTS)?;
    let mut rows = select.query([json(events)])?;
    while let Some(row) = rows.next()? {
        let event = EventId::from_u64(uint(row.get(0)?));
        let delivery = DeliveryId::from_u64(uint(row.get(1)?));
        let next = read_next(row.get_ref(2)?.as_str()?, row.get(3)?)?;
        followed.entry(event).or_default().push((delivery, next));
    }
    Ok(followed)
}

fn ids(events: &[Owing<'_>]) -> Vec<EventId> {
    events.iter().map(|event| event.event).collect()
}

/// A list as `json_each` takes it.
fn json(events: &[EventId]) -> String {
    let ids: Vec<i64> = events.iter().map(|event| int(event.as_u64())).collect();
    serde_json::Value::from(ids).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Connection {
        let segment = Connection::open_in_memory().unwrap();
        segment.execute_batch(include_str!("../migrations/segment/V1__segment.sql")).unwrap();
        segment
    }

    #[test]
    fn each_event_is_looked_up_and_no_table_is_read_through() {
        let segment = segment();
        for sql in [DEAD_LETTERS, ATTEMPTS] {
            let mut explain = segment.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = explain.query_map(["[1]"], |row| row.get(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(steps[0].starts_with("SCAN asked VIRTUAL TABLE"), "{steps:?}");
            assert!(steps[1].starts_with("SEARCH") && steps[1].contains("(event_id=?)"), "{steps:?}");
            // Attempts have their headers with them; what is asked for is in the index.
            assert!(sql != ATTEMPTS || steps[1].contains("COVERING INDEX"), "{steps:?}");
            assert!(!steps[2..].iter().any(|step| step.contains("SCAN")), "{steps:?}");
        }
    }
}
