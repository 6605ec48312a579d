//! Lists of events, newest first. A filter looks through the newest events one by one, and only so many at a time.

use crate::history::{self, FACT_COLUMNS, Facts};
use crate::reader::Reader;
use crate::rows::{int, uint};
use crate::stats;
use postrider_core::id::{EventId, least_at};
use postrider_core::limits::{SCAN_BYTES_MAX, SCAN_EVENTS_MAX};
use postrider_store::{Direction, EventFacts, EventFilter, EventPage, EventQuery};
use rusqlite::{Connection, params};
use std::time::Duration;

/// Rows read at once.
const STEP: usize = 500;
/// An event has its id by then. Only a clock that was set back by more while the gateway was down could hide some.
const NUMBERED_WITHIN: Duration = Duration::from_secs(3600);

pub(crate) fn events(reader: &mut Reader, query: &EventQuery) -> rusqlite::Result<EventPage> {
    if query.filter.is_empty() { whole(reader, query) } else { filtered(reader, query) }
}

/// Of what is not filtered the total was counted when it came.
fn whole(reader: &mut Reader, query: &EventQuery) -> rusqlite::Result<EventPage> {
    let mut page = EventPage::default();
    let ids = Ids::of(query);
    let (mut skip, mut more) = (query.offset, false);
    for listed in reader.segments()?.iter().rev() {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        page.total += stats::events_of(segment, query.account)?;
        if listed.first_event_id > ids.most {
            continue;
        }
        if skip > 0 {
            let there = count(segment, query, ids)?;
            if skip >= there {
                skip -= there;
                continue;
            }
        }
        // One more than asked for tells that there are more.
        let wanted = query.limit + 1 - page.items.len().min(query.limit + 1);
        for facts in newest(segment, query, ids, wanted, skip)? {
            more |= page.items.len() == query.limit;
            if page.items.len() < query.limit {
                page.items.extend(history::listed(segment, facts.id)?);
            }
        }
        skip = 0;
    }
    page.next = page.items.last().map(|event| event.id).filter(|_| more);
    Ok(page)
}

/// The ids that a query can find.
#[derive(Clone, Copy)]
struct Ids {
    least: u64,
    most: u64,
}

impl Ids {
    fn of(query: &EventQuery) -> Self {
        let by_time =
            query.filter.until.map_or(u64::MAX >> 1, |until| least_at(until.after(NUMBERED_WITHIN)));
        let behind = query.after.map_or(u64::MAX >> 1, |after| after.as_u64().saturating_sub(1));
        Ids { least: query.filter.since.map_or(0, least_at), most: by_time.min(behind) }
    }

    fn before(self, event: EventId) -> Self {
        Ids { most: event.as_u64().saturating_sub(1), ..self }
    }
}

fn count(segment: &Connection, query: &EventQuery, ids: Ids) -> rusqlite::Result<usize> {
    let mut select = segment
        .prepare_cached("SELECT count(*) FROM events WHERE account_id = ?1 AND id BETWEEN ?2 AND ?3")?;
    let key = [int(query.account.as_u64()), int(ids.least), int(ids.most)];
    let count = select.query_row(key, |row| row.get::<_, i64>(0)).map(uint)?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn newest(
    segment: &Connection,
    query: &EventQuery,
    ids: Ids,
    limit: usize,
    offset: usize,
) -> rusqlite::Result<Vec<Facts>> {
    // Those sent through the API have an index of their own: there may be few among many.
    let way = match query.filter.direction {
        Some(Direction::Outbound) => "AND source_id IS NULL",
        Some(Direction::Inbound) | None => "",
    };
    let mut select = segment.prepare_cached(&format!(
        "SELECT {FACT_COLUMNS} FROM events WHERE account_id = ?1 AND id BETWEEN ?2 AND ?3 {way}
         ORDER BY id DESC LIMIT ?4 OFFSET ?5"
    ))?;
    let key = params![
        int(query.account.as_u64()),
        int(ids.least),
        int(ids.most),
        int(limit as u64),
        int(offset as u64)
    ];
    let rows = select.query_map(key, history::read_facts)?;
    rows.collect()
}

fn filtered(reader: &mut Reader, query: &EventQuery) -> rusqlite::Result<EventPage> {
    let mut scan = Scan::new(query);
    let ids = Ids::of(query);
    for listed in reader.segments()?.iter().rev() {
        if listed.first_event_id > ids.most {
            continue;
        }
        let Some(segment) = reader.segment(listed.number)? else { continue };
        scan.look_through(segment, ids)?;
        if scan.page.cut {
            break;
        }
    }
    Ok(scan.page())
}

/// A look at events one by one, newest first.
struct Scan<'q> {
    query: &'q EventQuery,
    page: EventPage,
    /// Some matched that had no room on the page.
    more: bool,
    last: Option<EventId>,
    bytes_left: usize,
}

impl<'q> Scan<'q> {
    fn new(query: &'q EventQuery) -> Self {
        Scan { query, page: EventPage::default(), more: false, last: None, bytes_left: SCAN_BYTES_MAX }
    }

    fn look_through(&mut self, segment: &Connection, mut ids: Ids) -> rusqlite::Result<()> {
        loop {
            let rows = newest(segment, self.query, ids, STEP, 0)?;
            let last_rows = rows.len() < STEP;
            for facts in rows {
                if self.is_spent() {
                    self.page.cut = true;
                    return Ok(());
                }
                ids = ids.before(facts.id);
                self.look_at(segment, &facts)?;
            }
            if last_rows {
                return Ok(());
            }
        }
    }

    /// A search for a text ends with its page, since it reads bodies.
    fn is_spent(&self) -> bool {
        let searched = self.query.filter.text.is_some() && (self.more || self.bytes_left == 0);
        searched || self.page.scanned >= SCAN_EVENTS_MAX as u64
    }

    fn look_at(&mut self, segment: &Connection, facts: &Facts) -> rusqlite::Result<()> {
        self.page.scanned += 1;
        self.last = Some(facts.id);
        if !self.matches(segment, facts)? {
            return Ok(());
        }
        self.page.total += 1;
        if self.page.total <= self.query.offset as u64 {
            return Ok(());
        }
        if self.page.items.len() < self.query.limit {
            self.page.items.extend(history::listed(segment, facts.id)?);
        } else {
            self.more = true;
        }
        Ok(())
    }

    /// What costs least is asked first.
    fn matches(&mut self, segment: &Connection, facts: &Facts) -> rusqlite::Result<bool> {
        let filter = &self.query.filter;
        if !filter.fits(facts.as_asked()) || !filter.fits_fan_out(&facts.owed) {
            return Ok(false);
        }
        if filter.asks_for_standing() {
            let first_due = facts.window.due(facts.received_at);
            let standing = history::standing(segment, facts.id, &facts.owed, first_due)?;
            if !filter.fits_standing(&standing) {
                return Ok(false);
            }
        }
        self.has_text(segment, facts.id, filter)
    }

    fn has_text(
        &mut self,
        segment: &Connection,
        event: EventId,
        filter: &EventFilter,
    ) -> rusqlite::Result<bool> {
        let Some(text) = &filter.text else { return Ok(true) };
        let mut select =
            segment.prepare_cached("SELECT instr(body, ?2) > 0, length(body) FROM events WHERE id = ?1")?;
        let key = params![int(event.as_u64()), text.as_bytes()];
        let (found, bytes): (bool, i64) = select.query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        Ok(found)
    }

    fn page(self) -> EventPage {
        let Scan { mut page, more, last, .. } = self;
        page.next = match (more, page.cut) {
            (true, _) => page.items.last().map(|event| event.id),
            (false, true) => last,
            (false, false) => None,
        };
        page
    }
}

impl Facts {
    fn as_asked(&self) -> EventFacts<'_> {
        EventFacts {
            origin: self.origin,
            event_type: self.event_type.as_ref(),
            external_id: self.external_id.as_deref(),
            received_at: self.received_at,
        }
    }
}
