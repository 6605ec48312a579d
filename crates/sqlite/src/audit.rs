//! Walks a data directory and proves of every delivery that it is delivered, dead or owed. Reads alone, so a gateway
//! may run meanwhile: all that belongs to an event is in one file, and each file is read as it is at one moment.

use crate::checksum;
use crate::configuration;
use crate::error::{OpenError, store_error};
use crate::history::{FACT_COLUMNS, read_facts};
use crate::open::database_error;
use crate::reader::connect;
use crate::rows::uint;
use crate::segment;
use crate::standing;
use crate::write_ahead_log;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use rusqlite::{Connection, Transaction};
use std::path::Path;

/// Ids of orphans that are named; all of them are counted.
const NAMED_MAX: usize = 100;

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Files of events.
    pub segments: u64,
    /// Events in them.
    pub events: u64,
    /// Deliveries that were made.
    pub delivered: u64,
    /// Deliveries that were given up on.
    pub dead: u64,
    /// Deliveries that are in the queue.
    pub owed: u64,
    /// Deliveries that are none of these: lost.
    pub orphans: u64,
    /// The first of them.
    pub orphaned: Vec<DeliveryId>,
    /// Rows of the queue that no event owes, or that were delivered already: they would be sent once too often.
    pub strays: u64,
    /// What SQLite itself finds wrong with a file.
    pub damage: Vec<String>,
}

impl Audit {
    /// Whether everything is as it must be.
    pub fn is_clean(&self) -> bool {
        self.orphans == 0 && self.strays == 0 && self.damage.is_empty()
    }

    /// Walks all segments of a data directory. Says after every event how many of how many are walked.
    pub fn of(directory: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Audit, OpenError> {
        write_ahead_log::check_all(directory)?;
        let live_path = directory.join("live.db");
        let in_file =
            |path: &Path, error: &rusqlite::Error| database_error(path, &store_error(error).to_string());
        let live = connect(&live_path).map_err(|error| in_file(&live_path, &error))?;
        let mut audit = Audit::default();
        audit.check_pages(&live_path, &live).map_err(|error| in_file(&live_path, &error))?;
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
            match connect(&path).and_then(|mut file| {
                audit.walk(&path, &file.transaction()?, &mut |walked| progress(walked, total))
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
        &mut self,
        path: &Path,
        segment: &Transaction<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> rusqlite::Result<()> {
        self.check_pages(path, segment)?;
        let mut queue = queued(segment)?;
        let mut events = segment
            .prepare(&format!("SELECT {FACT_COLUMNS}, headers, body, checksum FROM events ORDER BY id"))?;
        let mut rows = events.query([])?;
        while let Some(row) = rows.next()? {
            let facts = read_facts(row)?;
            self.events += 1;
            if let Err(error) = checksum::check(row) {
                self.damage.push(format!("{}: {}: {}", path.display(), facts.id, store_error(&error)));
            }
            for state in standing::of(segment, facts.owing())? {
                self.judge((state.id, facts.id, state.destination), state.status, &mut queue);
            }
            progress(self.events);
        }
        self.strays += queue.iter().filter(|queued| !queued.is_claimed).count() as u64;
        self.segments += 1;
        Ok(())
    }

    /// A row of the queue that names another event or destination is not the delivery's.
    fn judge(&mut self, owed: Owed, status: DeliveryStatus, queue: &mut [Queued]) {
        let place = queue.binary_search_by_key(&owed, |queued| queued.owed).ok();
        let queued = place.map(|at| &mut queue[at]);
        match (status, queued) {
            // If it has a row all the same, that stays unclaimed and is counted as a stray.
            (DeliveryStatus::Delivered, _) => self.delivered += 1,
            // A dead letter that holds its ordered line stands in the queue too.
            (DeliveryStatus::DeadLetter, queued) => {
                self.dead += 1;
                queued.into_iter().for_each(|queued| queued.is_claimed = true);
            }
            (_, Some(queued)) => {
                self.owed += 1;
                queued.is_claimed = true;
            }
            (_, None) => {
                self.orphans += 1;
                if self.orphaned.len() < NAMED_MAX {
                    self.orphaned.push(owed.0);
                }
            }
        }
    }

    fn check_pages(&mut self, path: &Path, file: &Connection) -> rusqlite::Result<()> {
        let said: String = file.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if said != "ok" {
            self.damage.push(format!("{}: {said}", path.display()));
        }
        Ok(())
    }
}

/// How many events are in a segment, for whoever waits for the walk; one that cannot be read is told of by that.
fn count(path: &Path) -> u64 {
    let counted = connect(path)
        .and_then(|file| file.query_row("SELECT count(*) FROM events", [], |row| row.get(0).map(uint)));
    counted.unwrap_or_default()
}

/// A delivery, its event, and to whom it goes.
type Owed = (DeliveryId, EventId, DestinationId);

struct Queued {
    owed: Owed,
    /// An event owes it.
    is_claimed: bool,
}

/// By id: the queue itself is in the order in which it is sent.
fn queued(segment: &Connection) -> rusqlite::Result<Vec<Queued>> {
    let mut select = segment.prepare("SELECT delivery_id, event_id, destination_id FROM queue")?;
    let rows = select.query_map([], |row| {
        let id = |column| row.get(column).map(uint);
        let owed = (DeliveryId::from_u64(id(0)?), EventId::from_u64(id(1)?), DestinationId::from_u64(id(2)?));
        Ok(Queued { owed, is_claimed: false })
    })?;
    let mut queue = rows.collect::<rusqlite::Result<Vec<Queued>>>()?;
    queue.sort_by_key(|queued| queued.owed);
    Ok(queue)
}
