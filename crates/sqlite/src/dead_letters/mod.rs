//! What was given up on: lists over all segments, and the two ways out of them.

mod list;

pub(crate) use list::list;

use crate::error::corrupt;
use crate::rows::{int, read_time, time, uint};
use crate::segment::Segments;
use crate::statements::Statements;
use crate::stats;
use crate::writer::Partly;
use postrider_core::delivery::{OrderKey, Priority, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_store::{DeadLetter, DeadLetterKey, Discarded, OwedAgain, Revival, StatsChange};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};
use std::collections::BTreeMap;

const COLUMNS: &str =
    "d.delivery_id, d.event_id, d.account_id, d.destination_id, d.route_id, e.source_id, e.event_type,
     d.priority, d.order_key, d.attempts, d.bytes, d.reason, d.last_error, d.died_at";

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
/// nothing is owed without anyone knowing.
pub(crate) fn revive(
    segments: &mut Segments,
    account: AccountId,
    revivals: &[Revival],
    now: Timestamp,
) -> rusqlite::Result<Partly<OwedAgain>> {
    let mut all = OwedAgain::default();
    for (number, of_segment) in by_segment(segments, revivals, |revival| revival.key.event) {
        match segments.connection(number).and_then(|segment| revive_in(segment, account, &of_segment, now)) {
            Ok(revived) => {
                all.tickets.extend(revived.tickets);
                all.unblocked.extend(revived.unblocked);
            }
            Err(error) if all.tickets.is_empty() => return Err(error),
            Err(error) => return Ok(Partly { done: all, failed: Some(error) }),
        }
    }
    Ok(Partly::whole(all))
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
) -> rusqlite::Result<Partly<Discarded>> {
    let mut all = Discarded::default();
    for (number, of_segment) in by_segment(segments, letters, |key| key.event) {
        match segments.connection(number).and_then(|segment| discard_in(segment, account, &of_segment, now)) {
            Ok(discarded) => {
                all.count += discarded.count;
                all.unblocked.extend(discarded.unblocked);
            }
            Err(error) if all.count == 0 => return Err(error),
            Err(error) => return Ok(Partly { done: all, failed: Some(error) }),
        }
    }
    Ok(Partly::whole(all))
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
