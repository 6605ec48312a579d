//! Lists of dead letters. Events die in another order than they came in, so a list is merged from all segments. A filter
//! looks through only so many at a time.

use super::{COLUMNS, find, read};
use crate::reader::Reader;
use crate::rows::{int, time};
use postrider_core::id::DeliveryId;
use postrider_core::limits::SCAN_DEAD_LETTERS_MAX;
use postrider_store::{DeadLetter, DeadLetterOrder, DeadLetterPage, DeadLetterPosition, DeadLetterQuery};
use rusqlite::{Connection, params};
use std::collections::VecDeque;
use std::ops::Range;

/// Rows of a segment that are read at once, if no more are asked for.
const STEP: usize = 100;

pub(crate) fn list(reader: &mut Reader, query: &DeadLetterQuery) -> rusqlite::Result<DeadLetterPage> {
    let mut lines = Vec::new();
    for listed in reader.segments()? {
        lines.push(match &query.filter.deliveries {
            Some(among) => Line::of_named(reader, listed.number, query, among)?,
            None => Line { segment: Some(listed.number), rest: query.range(), read: VecDeque::new() },
        });
    }
    let mut page = DeadLetterPage::default();
    for _ in 0..SCAN_DEAD_LETTERS_MAX {
        for line in &mut lines {
            line.read_on(reader, query)?;
        }
        let Some(letter) = next(&mut lines, query.order) else {
            return Ok(DeadLetterPage { next: None, ..page });
        };
        page.next = Some(letter.position());
        if query.filter.matches(&letter) {
            // One more than asked for tells that there are more.
            if page.items.len() == query.limit {
                page.next = page.items.last().map(DeadLetter::position);
                return Ok(page);
            }
            page.items.push(letter);
        }
    }
    Ok(page)
}

/// The dead letters of one segment, in the order of the list.
struct Line {
    /// None when all of it was read.
    segment: Option<i64>,
    rest: Range<DeadLetterPosition>,
    read: VecDeque<DeadLetter>,
}

impl Line {
    /// Of dead letters that are named there are few.
    fn of_named(
        reader: &mut Reader,
        number: i64,
        query: &DeadLetterQuery,
        among: &[DeliveryId],
    ) -> rusqlite::Result<Line> {
        let rest = query.range();
        let mut found = Vec::new();
        if let Some(segment) = reader.segment(number)? {
            for id in among {
                found.extend(find(segment, query.account, *id)?);
            }
        }
        found.retain(|letter| rest.contains(&letter.position()));
        found.sort_unstable_by_key(DeadLetter::position);
        if query.order == DeadLetterOrder::NewestFirst {
            found.reverse();
        }
        Ok(Line { segment: None, rest, read: found.into() })
    }

    /// Reads on when all that was read is listed.
    fn read_on(&mut self, reader: &mut Reader, query: &DeadLetterQuery) -> rusqlite::Result<()> {
        let Some(number) = self.segment.filter(|_| self.read.is_empty()) else { return Ok(()) };
        let step = STEP.max(query.limit + 1);
        if let Some(segment) = reader.segment(number)? {
            self.read = scan(segment, query, &self.rest, step)?;
        }
        match self.read.back() {
            Some(last) if self.read.len() == step => {
                self.rest = query.order.behind(&self.rest, last.position());
            }
            _ => self.segment = None,
        }
        Ok(())
    }
}

/// Whichever of the lines has what comes next.
fn next(lines: &mut [Line], order: DeadLetterOrder) -> Option<DeadLetter> {
    let heads = lines.iter_mut().filter_map(|line| Some((line.read.front()?.position(), line)));
    let (_, line) = match order {
        DeadLetterOrder::NewestFirst => heads.max_by_key(|(position, _)| *position),
        DeadLetterOrder::OldestFirst => heads.min_by_key(|(position, _)| *position),
    }?;
    line.read.pop_front()
}

fn scan(
    segment: &Connection,
    query: &DeadLetterQuery,
    range: &Range<DeadLetterPosition>,
    limit: usize,
) -> rusqlite::Result<VecDeque<DeadLetter>> {
    let way = match query.order {
        DeadLetterOrder::NewestFirst => "DESC",
        DeadLetterOrder::OldestFirst => "ASC",
    };
    let mut select = segment.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM dead_letters d CROSS JOIN events e ON e.id = d.event_id
         WHERE d.account_id = ?1 AND d.discarded_at IS NULL
           AND (d.died_at, d.delivery_id) >= (?2, ?3) AND (d.died_at, d.delivery_id) < (?4, ?5)
         ORDER BY d.died_at {way}, d.delivery_id {way} LIMIT ?6"
    ))?;
    let place = |at: DeadLetterPosition| (time(at.died_at), int(at.delivery.as_u64()));
    let (start, end) = (place(range.start), place(range.end));
    let key = params![int(query.account.as_u64()), start.0, start.1, end.0, end.1, int(limit as u64)];
    select.query_map(key, read)?.collect()
}
