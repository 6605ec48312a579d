//! Walks a data directory and proves of every delivery that it is delivered, dead or owed. Reads alone, so a gateway
//! may run meanwhile: all that belongs to an event is in one file, and each file is read as it is at one moment.

use crate::checksum;
use crate::closing::LookedAt;
use crate::configuration;
use crate::error::{OpenError, store_error};
use crate::history::{FACT_COLUMNS, read_facts};
use crate::open::database_error;
use crate::rows::uint;
use crate::segment;
use crate::standing;
use crate::write_ahead_log;
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_store::{AuditedQueue, DeliveryAudit};
use rusqlite::{Connection, Transaction};
use std::path::Path;

/// Walks all segments of a data directory. Says after every event how many of how many are walked.
pub fn audit(directory: &Path, mut progress: impl FnMut(u64, u64)) -> Result<DeliveryAudit, OpenError> {
    write_ahead_log::check_all(directory)?;
    let live_path = directory.join("live.db");
    let in_file =
        |path: &Path, error: &rusqlite::Error| database_error(path, &store_error(error).to_string());
    let live = LookedAt::open(&live_path).map_err(|error| in_file(&live_path, &error))?;
    let mut audit = DeliveryAudit::default();
    check_pages(&mut audit, &live_path, &live).map_err(|error| in_file(&live_path, &error))?;
    if let Err(error) = configuration::documents(&live) {
        audit.damage.push(format!("{}: {}", live_path.display(), store_error(&error)));
    }
    let listed = segment::list(&live).map_err(|error| in_file(&live_path, &error))?;
    let total = listed.iter().map(|segment| count(&segment::path(directory, segment.number))).sum();
    for segment in listed {
        let path = segment::path(directory, segment.number);
        let dropped = |live: &Connection| -> rusqlite::Result<bool> {
            Ok(!segment::list(live)?.iter().any(|known| known.number == segment.number))
        };
        match LookedAt::open(&path).and_then(|mut file| {
            walk(&mut audit, &path, &file.transaction()?, &mut |walked| progress(walked, total))
        }) {
            Ok(()) => {}
            // Retention may have come in between.
            Err(_) if dropped(&live).map_err(|error| in_file(&live_path, &error))? => {}
            Err(error) => return Err(in_file(&path, &error)),
        }
    }
    Ok(audit)
}

/// One moment of one file.
fn walk(
    audit: &mut DeliveryAudit,
    path: &Path,
    segment: &Transaction<'_>,
    progress: &mut dyn FnMut(u64),
) -> rusqlite::Result<()> {
    check_pages(audit, path, segment)?;
    let mut queue = queued(segment)?;
    let mut events = segment
        .prepare(&format!("SELECT {FACT_COLUMNS}, headers, body, checksum FROM events ORDER BY id"))?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let facts = read_facts(row)?;
        if let Err(error) = checksum::check(row) {
            audit.damage.push(format!("{}: {}: {}", path.display(), facts.id, store_error(&error)));
        }
        audit.judge(facts.id, &standing::of(segment, facts.owing())?, &mut queue);
        progress(audit.events);
    }
    audit.end(&queue);
    audit.segments += 1;
    Ok(())
}

fn check_pages(audit: &mut DeliveryAudit, path: &Path, file: &Connection) -> rusqlite::Result<()> {
    let said: String = file.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        audit.damage.push(format!("{}: {said}", path.display()));
    }
    Ok(())
}

/// How many events are in a segment, for whoever waits for the walk; one that cannot be read is told of by that.
fn count(path: &Path) -> u64 {
    let counted = LookedAt::open(path)
        .and_then(|file| file.query_row("SELECT count(*) FROM events", [], |row| row.get(0).map(uint)));
    counted.unwrap_or_default()
}

fn queued(segment: &Connection) -> rusqlite::Result<AuditedQueue> {
    let mut select = segment.prepare("SELECT delivery_id, event_id, destination_id FROM queue")?;
    let rows = select.query_map([], |row| {
        let id = |column| row.get(column).map(uint);
        Ok((DeliveryId::from_u64(id(0)?), EventId::from_u64(id(1)?), DestinationId::from_u64(id(2)?)))
    })?;
    Ok(AuditedQueue::new(rows.collect::<rusqlite::Result<Vec<_>>>()?))
}
