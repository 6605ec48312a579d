//! What was given up on: lists over all segments, and the two ways out of them.

use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, time, uint};
use crate::segment::Segments;
use crate::statements::Statements;
use crate::stats;
use postrider_core::delivery::{OrderKey, Priority, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_store::{
    DeadLetter, DeadLetterKey, DeadLetterOrder, DeadLetterPage, DeadLetterPosition, DeadLetterQuery,
    Discarded, OwedAgain, Revival, StatsChange,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::ops::Range;

/// Rows of a segment that one query looks through: some tens of milliseconds of a reader that others wait for.
const SCAN_MAX: usize = 20_000;

const COLUMNS: &str =
    "d.delivery_id, d.event_id, d.account_id, d.destination_id, d.route_id, e.source_id, e.event_type,
     d.priority, d.order_key, d.attempts, d.bytes, d.reason, d.last_error, d.died_at";

pub(crate) fn list(reader: &mut Reader, query: &DeadLetterQuery) -> rusqlite::Result<DeadLetterPage> {
    let mut scans = Vec::new();
    for listed in reader.segments()? {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        scans.push(match &query.filter.deliveries {
            Some(among) => look_up(segment, query, among)?,
            None => scan(segment, query)?,
        });
    }
    Ok(merge(scans, query))
}

/// What a segment has of a page, and where its scan broke off when it did.
struct Scan {
    items: Vec<DeadLetter>,
    broke_off: Option<DeadLetterPosition>,
}

/// Events die in another order than they came in, so a page is merged from all segments. Behind the place where
/// the first of them broke off nothing is sure yet.
fn merge(scans: Vec<Scan>, query: &DeadLetterQuery) -> DeadLetterPage {
    let broken_off = scans.iter().filter_map(|scan| scan.broke_off);
    let sure_until = match query.order {
        DeadLetterOrder::NewestFirst => broken_off.max(),
        DeadLetterOrder::OldestFirst => broken_off.min(),
    };
    let is_sure = |letter: &DeadLetter| match (sure_until, query.order) {
        (None, _) => true,
        (Some(until), DeadLetterOrder::NewestFirst) => letter.position() >= until,
        (Some(until), DeadLetterOrder::OldestFirst) => letter.position() <= until,
    };
    let mut items: Vec<DeadLetter> = scans.into_iter().flat_map(|scan| scan.items).filter(is_sure).collect();
    items.sort_unstable_by_key(DeadLetter::position);
    if query.order == DeadLetterOrder::NewestFirst {
        items.reverse();
    }
    let more = items.len() > query.limit;
    items.truncate(query.limit);
    let next = if more { items.last().map(DeadLetter::position) } else { sure_until };
    DeadLetterPage { items, next }
}

fn scan(segment: &Connection, query: &DeadLetterQuery) -> rusqlite::Result<Scan> {
    let way = match query.order {
        DeadLetterOrder::NewestFirst => "DESC",
        DeadLetterOrder::OldestFirst => "ASC",
    };
    let mut select = segment.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM dead_letters d CROSS JOIN events e ON e.id = d.event_id
         WHERE d.account_id = ?1 AND d.discarded_at IS NULL
           AND (d.died_at, d.delivery_id) >= (?2, ?3) AND (d.died_at, d.delivery_id) < (?4, ?5)
         ORDER BY d.died_at {way}, d.delivery_id {way}"
    ))?;
    let Range { start, end } = range(query);
    let mut rows = select.query(params![int(query.account.as_u64()), start.0, start.1, end.0, end.1])?;
    let mut found = Scan { items: Vec::new(), broke_off: None };
    let mut scanned = 0;
    while let Some(row) = rows.next()? {
        let letter = read(row)?;
        let position = letter.position();
        if query.filter.matches(&letter) {
            found.items.push(letter);
        }
        scanned += 1;
        // One more than asked for tells that there are more.
        if found.items.len() > query.limit {
            break;
        }
        if scanned >= SCAN_MAX {
            found.broke_off = Some(position);
            break;
        }
    }
    Ok(found)
}

/// The positions to look through, as SQL compares them.
fn range(query: &DeadLetterQuery) -> Range<(i64, i64)> {
    let since = (query.filter.since.map_or(0, time), 0);
    let until = (query.filter.until.map_or(i64::MAX, time), 0);
    let after = query.after.map(|after| (time(after.died_at), int(after.delivery.as_u64())));
    match (after, query.order) {
        (None, _) => since..until,
        (Some(after), DeadLetterOrder::NewestFirst) => since..until.min(after),
        (Some((at, id)), DeadLetterOrder::OldestFirst) => since.max((at, id.saturating_add(1)))..until,
    }
}

/// Of dead letters that are named there are few.
fn look_up(segment: &Connection, query: &DeadLetterQuery, among: &[DeliveryId]) -> rusqlite::Result<Scan> {
    let range = range(query);
    let mut items = Vec::new();
    for id in among {
        let found = find(segment, query.account, *id)?;
        let in_range =
            |letter: &DeadLetter| range.contains(&(time(letter.died_at), int(letter.delivery.as_u64())));
        items.extend(found.filter(|letter| in_range(letter) && query.filter.matches(letter)));
    }
    Ok(Scan { items, broke_off: None })
}

fn find(
    segment: &Connection,
    account: AccountId,
    delivery: DeliveryId,
) -> rusqlite::Result<Option<DeadLetter>> {
    segment
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM dead_letters d CROSS JOIN events e ON e.id = d.event_id
             WHERE d.delivery_id = ?1 AND d.account_id = ?2 AND d.discarded_at IS NULL"
        ))?
        .query_row([int(delivery.as_u64()), int(account.as_u64())], read)
        .optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    let event_type: Option<String> = row.get(6)?;
    let event_type = event_type.map(|text| EventType::parse(&text).map_err(|_| corrupt("a type")));
    let (source, order): (Option<i64>, Option<i64>) = (row.get(5)?, row.get(8)?);
    let reason: String = row.get(11)?;
    Ok(DeadLetter {
        delivery: DeliveryId::from_u64(uint(row.get(0)?)),
        event: EventId::from_u64(uint(row.get(1)?)),
        account: AccountId::from_u64(uint(row.get(2)?)),
        destination: DestinationId::from_u64(uint(row.get(3)?)),
        route: RouteId::from_u64(uint(row.get(4)?)),
        source: source.map(|id| SourceId::from_u64(uint(id))),
        event_type: event_type.transpose()?,
        priority: Priority::from_number(uint(row.get(7)?)).ok_or_else(|| corrupt("a priority"))?,
        order: order.map(|key| OrderKey::from_u64(uint(key))),
        attempts: row.get(9)?,
        bytes: row.get(10)?,
        reason: DeathReason::from_word(&reason).ok_or_else(|| corrupt("a reason"))?,
        last_error: row.get(12)?,
        died_at: read_time(row.get(13)?),
    })
}

/// Each segment in a transaction of its own. If a later one fails, what the earlier ones have done is told, so that
/// nothing is owed without anyone knowing; who asks again for the rest meets the error then.
pub(crate) fn revive(
    segments: &mut Segments,
    account: AccountId,
    revivals: &[Revival],
    now: Timestamp,
) -> rusqlite::Result<OwedAgain> {
    let mut all = OwedAgain::default();
    for (number, of_segment) in by_segment(segments, revivals, |revival| revival.key.event) {
        match segments.connection(number).and_then(|segment| revive_in(segment, account, &of_segment, now)) {
            Ok(revived) => {
                all.tickets.extend(revived.tickets);
                all.unblocked.extend(revived.unblocked);
            }
            Err(error) if all.tickets.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(all)
}

fn revive_in(
    segment: &mut Connection,
    account: AccountId,
    revivals: &[Revival],
    now: Timestamp,
) -> rusqlite::Result<OwedAgain> {
    let change = segment.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (mut all, mut counted) = (OwedAgain::default(), StatsChange::default());
    for revival in revivals {
        let Some(letter) = find(&change, account, revival.key.delivery)? else { continue };
        change
            .prepare_cached("DELETE FROM dead_letters WHERE delivery_id = ?1")?
            .execute([int(letter.delivery.as_u64())])?;
        all.unblocked.extend(unblock(&change, &letter)?);
        let ticket = letter.revived(revival.order, now);
        Statements::new(&change)?.owe(account, &ticket)?;
        all.tickets.push(ticket);
        counted.revived(account, now);
    }
    stats::write(&change, &counted)?;
    change.commit()?;
    Ok(all)
}

/// The same with what is not wanted any more.
pub(crate) fn discard(
    segments: &mut Segments,
    account: AccountId,
    letters: &[DeadLetterKey],
    now: Timestamp,
) -> rusqlite::Result<Discarded> {
    let mut all = Discarded::default();
    for (number, of_segment) in by_segment(segments, letters, |key| key.event) {
        match segments.connection(number).and_then(|segment| discard_in(segment, account, &of_segment, now)) {
            Ok(discarded) => {
                all.count += discarded.count;
                all.unblocked.extend(discarded.unblocked);
            }
            Err(error) if all.count == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(all)
}

fn discard_in(
    segment: &mut Connection,
    account: AccountId,
    letters: &[DeadLetterKey],
    now: Timestamp,
) -> rusqlite::Result<Discarded> {
    let change = segment.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut discarded = Discarded::default();
    for key in letters {
        let Some(letter) = find(&change, account, key.delivery)? else { continue };
        change
            .prepare_cached("UPDATE dead_letters SET discarded_at = ?2 WHERE delivery_id = ?1")?
            .execute([int(letter.delivery.as_u64()), time(now)])?;
        discarded.count += 1;
        discarded.unblocked.extend(unblock(&change, &letter)?);
    }
    change.commit()?;
    Ok(discarded)
}

/// Takes what blocks an ordered line out of the queue, if this does.
fn unblock(change: &Transaction<'_>, letter: &DeadLetter) -> rusqlite::Result<Option<Ticket>> {
    let blocked = letter.blocked();
    let stood = letter.order.is_some() && Statements::new(change)?.remove(&blocked)?;
    Ok(stood.then_some(blocked))
}

/// What is in a segment that was dropped is left out.
fn by_segment<T: Copy>(
    segments: &Segments,
    all: &[T],
    event: impl Fn(&T) -> EventId,
) -> BTreeMap<i64, Vec<T>> {
    let mut sorted: BTreeMap<i64, Vec<T>> = BTreeMap::new();
    for one in all {
        if let Some(number) = segments.of_event(event(one)) {
            sorted.entry(number).or_default().push(*one);
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_store::DeadLetterFilter;

    fn letter(died_ms: u64) -> DeadLetter {
        DeadLetter {
            delivery: DeliveryId::from_u64(died_ms),
            event: EventId::from_u64(died_ms),
            account: AccountId::from_u64(1),
            destination: DestinationId::from_u64(1),
            route: RouteId::from_u64(1),
            source: None,
            event_type: None,
            priority: Priority::Normal,
            order: None,
            attempts: 1,
            bytes: 0,
            reason: DeathReason::Age,
            last_error: None,
            died_at: Timestamp::from_unix_ms(died_ms),
        }
    }

    /// Scans as the times of what they found and where they broke off.
    fn check(
        order: DeadLetterOrder,
        scans: &[(&[u64], Option<u64>)],
        limit: usize,
        expected: (&[u64], Option<u64>),
    ) {
        let scan = |(items, broke_off): &(&[u64], Option<u64>)| Scan {
            items: items.iter().map(|at| letter(*at)).collect(),
            broke_off: broke_off.map(|at| letter(at).position()),
        };
        let (account, filter) = (AccountId::from_u64(1), DeadLetterFilter::default());
        let query = DeadLetterQuery { account, filter, order, after: None, limit };
        let page = merge(scans.iter().map(scan).collect(), &query);
        let items: Vec<u64> = page.items.iter().map(|letter| letter.died_at.unix_ms()).collect();
        let next = page.next.map(|next| next.died_at.unix_ms());
        assert_eq!((&items[..], next), expected, "{scans:?}");
    }

    #[test]
    fn a_page_ends_where_the_first_scan_broke_off() {
        let newest = DeadLetterOrder::NewestFirst;
        check(newest, &[(&[9, 5], None), (&[7, 1], None)], 4, (&[9, 7, 5, 1], None));
        check(newest, &[(&[9, 5], None), (&[7, 1], None)], 3, (&[9, 7, 5], Some(5)));
        check(newest, &[(&[9, 5], None), (&[7], Some(6))], 4, (&[9, 7], Some(6)));
        check(newest, &[(&[9, 5], Some(3)), (&[7], Some(6))], 4, (&[9, 7], Some(6)));
        check(newest, &[(&[], Some(8)), (&[7], None)], 4, (&[], Some(8)));
        let oldest = DeadLetterOrder::OldestFirst;
        check(oldest, &[(&[5, 9], None), (&[1, 7], None)], 3, (&[1, 5, 7], Some(7)));
        check(oldest, &[(&[5, 9], None), (&[1], Some(6))], 4, (&[1, 5], Some(6)));
        check(oldest, &[], 4, (&[], None));
    }
}
