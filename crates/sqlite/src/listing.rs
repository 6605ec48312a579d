//! Lists of events, newest first. A filter looks through the newest events one by one, and only so many at a time.

use crate::history::{self, FACT_COLUMNS, Facts, snapshot};
use crate::reader::Reader;
use crate::rows::{int, uint};
use crate::standing;
use crate::stats;
use postrider_core::id::EventId;
use postrider_store::{
    DeliveryState, Direction, EventFacts, EventFilter, EventPage, EventQuery, ListScan, Standings,
};
use rusqlite::Connection;

/// Rows read at once.
const STEP: usize = 500;
/// Deliveries that are owed for them, after which no more rows are: an event may have ten thousand.
const STEP_DELIVERIES: usize = 20_000;

pub(crate) fn events(reader: &mut Reader, query: &EventQuery) -> rusqlite::Result<EventPage> {
    if query.filter.is_empty() { whole(reader, query) } else { filtered(reader, query) }
}

/// Of what is not filtered the total was counted when it came.
fn whole(reader: &mut Reader, query: &EventQuery) -> rusqlite::Result<EventPage> {
    let mut page = EventPage::default();
    let ids = query.ids();
    let (mut skip, mut more) = (query.offset, false);
    for listed in reader.segments()?.iter().rev() {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        let segment = &*snapshot(segment)?;
        page.total += stats::events_of(segment, query.account)?;
        if listed.first_event_id > ids.1 {
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
        for event in newest_ids(segment, query, ids, wanted, skip)? {
            let room = page.has_room(query);
            more |= !room;
            if room {
                page.items.extend(history::listed(segment, query, event)?);
            }
        }
        skip = 0;
    }
    page.next = page.items.last().map(|event| event.id).filter(|_| more);
    Ok(page)
}

fn count(segment: &Connection, query: &EventQuery, ids: (u64, u64)) -> rusqlite::Result<usize> {
    let mut select = segment
        .prepare_cached("SELECT count(*) FROM events WHERE account_id = ?1 AND id BETWEEN ?2 AND ?3")?;
    let key = [int(query.account.as_u64()), int(ids.0), int(ids.1)];
    let count = select.query_row(key, |row| row.get::<_, i64>(0)).map(uint)?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn newest_ids(
    segment: &Connection,
    query: &EventQuery,
    ids: (u64, u64),
    limit: usize,
    offset: usize,
) -> rusqlite::Result<Vec<EventId>> {
    let mut select = segment.prepare_cached(&select_newest(query, "id"))?;
    let rows = select.query_map(key(query, ids, limit, offset), |row| row.get(0))?;
    rows.map(|id| id.map(|id| EventId::from_u64(uint(id)))).collect()
}

/// The next that a filter looks at.
struct Step {
    rows: Vec<Facts>,
    is_last: bool,
}

impl Step {
    fn read(segment: &Connection, query: &EventQuery, ids: (u64, u64)) -> rusqlite::Result<Self> {
        let mut select = segment.prepare_cached(&select_newest(query, FACT_COLUMNS))?;
        let mut found = select.query_map(key(query, ids, STEP, 0), history::read_facts)?;
        let (mut rows, mut owed) = (Vec::new(), 0);
        while rows.len() < STEP && owed < STEP_DELIVERIES {
            let Some(facts) = found.next().transpose()? else { return Ok(Step { rows, is_last: true }) };
            owed += facts.owed.len();
            rows.push(facts);
        }
        Ok(Step { rows, is_last: false })
    }
}

fn select_newest(query: &EventQuery, columns: &str) -> String {
    // Those sent through the API have an index of their own: there may be few among many.
    let way = match query.filter.direction {
        Some(Direction::Outbound) => "AND source_id IS NULL",
        Some(Direction::Inbound) | None => "",
    };
    format!(
        "SELECT {columns} FROM events
         WHERE account_id = ?1 AND id BETWEEN ?2 AND ?3 AND received_at < ?4 {way}
         ORDER BY id DESC LIMIT ?5 OFFSET ?6"
    )
}

fn key(query: &EventQuery, ids: (u64, u64), limit: usize, offset: usize) -> [i64; 6] {
    let received_before = int(query.received_before());
    let (limit, offset) = (int(limit as u64), int(offset as u64));
    [int(query.account.as_u64()), int(ids.0), int(ids.1), received_before, limit, offset]
}

fn filtered(reader: &mut Reader, query: &EventQuery) -> rusqlite::Result<EventPage> {
    let mut scan = ListScan::new(query);
    let ids = query.ids();
    for listed in reader.segments()?.iter().rev() {
        if listed.first_event_id > ids.1 {
            continue;
        }
        let Some(segment) = reader.segment(listed.number)? else { continue };
        match look_through(&*snapshot(segment)?, query, ids, &mut scan)? {
            Looked::AtAll => {}
            Looked::AtEnough => break,
            Looked::BrokeOff => return Ok(scan.cut()),
        }
    }
    Ok(scan.page())
}

enum Looked {
    AtAll,
    AtEnough,
    BrokeOff,
}

fn look_through(
    segment: &Connection,
    query: &EventQuery,
    (least, mut most): (u64, u64),
    scan: &mut ListScan<'_>,
) -> rusqlite::Result<Looked> {
    loop {
        let Step { rows, is_last } = Step::read(segment, query, (least, most))?;
        let standings = standings(segment, &query.filter, &rows)?;
        for facts in rows {
            if scan.is_full() {
                return Ok(Looked::AtEnough);
            }
            if scan.is_spent() {
                return Ok(Looked::BrokeOff);
            }
            most = facts.id.as_u64().saturating_sub(1);
            let standing = standings.get(&facts.id).map(Vec::as_slice);
            let matches = matches(segment, query, &facts, standing, scan)?;
            if scan.looked_at(facts.id, matches) {
                scan.show(history::listed(segment, query, facts.id)?);
            }
        }
        if is_last {
            return Ok(Looked::AtAll);
        }
    }
}

/// Where those stand that fit so far, if that is asked for.
fn standings(segment: &Connection, filter: &EventFilter, rows: &[Facts]) -> rusqlite::Result<Standings> {
    if !filter.asks_for_standing() {
        return Ok(Standings::default());
    }
    let fitting = rows.iter().filter(|facts| facts.fit(filter));
    standing::of_fitting(segment, filter, fitting.map(Facts::owing).collect())
}

/// What costs least is asked first.
fn matches(
    segment: &Connection,
    query: &EventQuery,
    facts: &Facts,
    standing: Option<&[DeliveryState]>,
    scan: &mut ListScan<'_>,
) -> rusqlite::Result<bool> {
    let filter = &query.filter;
    let stands = match standing {
        Some(standing) => filter.fits_standing(standing),
        None => !filter.asks_for_standing(),
    };
    if !stands || !facts.fit(filter) {
        return Ok(false);
    }
    if filter.text.is_none() {
        return Ok(true);
    }
    let mut select = segment.prepare_cached("SELECT body FROM events WHERE id = ?1")?;
    select.query_row([int(facts.id.as_u64())], |row| {
        let body = row.get_ref(0)?.as_blob()?;
        scan.searched(body.len());
        // Not by SQL's `instr`, which compares at every byte.
        Ok(filter.fits_body(body))
    })
}

impl Facts {
    fn fit(&self, filter: &EventFilter) -> bool {
        filter.fits(self.as_asked()) && filter.fits_fan_out(&self.owed)
    }

    fn as_asked(&self) -> EventFacts<'_> {
        EventFacts {
            origin: self.origin,
            event_type: self.event_type.as_ref(),
            external_id: self.external_id.as_deref(),
            received_at: self.received_at,
        }
    }
}

#[cfg(test)]
mod tests;
