//! Writes one batch: events into the open segment, outcomes into the segment of their event.

use crate::rows::{int, order_key, place, read_time, time, uint};
use crate::segment::Segments;
use postrider_core::delivery::{Lane, Ticket};
use postrider_core::id::{AccountId, EventId};
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;
use postrider_store::codec::{deliveries_to_text, next_to_words};
use postrider_store::{Acceptance, Attempt, Batch, Finished, Idempotency, NewEvent, Receipt};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) fn commit(segments: &mut Segments, batch: &Batch) -> rusqlite::Result<Receipt> {
    settle_in_sealed(segments, batch)?;
    let known = known_in_sealed(segments, batch)?;
    let receipt = write_open(segments, batch, &known)?;
    for (event, acceptance) in batch.events.iter().zip(&receipt.events) {
        if *acceptance == Acceptance::Accepted {
            segments.note_event(event.id);
        }
    }
    Ok(receipt)
}

/// Outcomes of events whose segment is sealed: few, each segment in a transaction of its own. If a later one
/// fails, they are given again, which changes nothing.
fn settle_in_sealed(segments: &mut Segments, batch: &Batch) -> rusqlite::Result<()> {
    let open = segments.number();
    let mut older: BTreeMap<i64, Vec<&Finished>> = BTreeMap::new();
    for finished in &batch.finished {
        match segments.of_event(finished.ticket.event) {
            Some(number) if number != open => older.entry(number).or_default().push(finished),
            _ => {}
        }
    }
    for (number, finished) in older {
        let change =
            segments.connection(number)?.transaction_with_behavior(TransactionBehavior::Immediate)?;
        finished.iter().try_for_each(|finished| settle(&change, finished))?;
        note_last_id(&change, finished.iter().map(|finished| finished.attempt.id.as_u64()).max())?;
        change.commit()?;
    }
    Ok(())
}

/// For each event, what a sealed segment knows of its key.
fn known_in_sealed(segments: &mut Segments, batch: &Batch) -> rusqlite::Result<Vec<Option<Acceptance>>> {
    let mut known = vec![None; batch.events.len()];
    for (known, event) in known.iter_mut().zip(&batch.events) {
        let Some(key) = event.idempotency else { continue };
        for number in segments.sealed_with_keys(event.content.received_at) {
            *known = recognise(segments.connection(number)?, event, key)?;
            if known.is_some() {
                break;
            }
        }
    }
    Ok(known)
}

fn write_open(
    segments: &mut Segments,
    batch: &Batch,
    known: &[Option<Acceptance>],
) -> rusqlite::Result<Receipt> {
    let open = segments.number();
    let own: Vec<&Finished> = batch
        .finished
        .iter()
        .filter(|finished| segments.of_event(finished.ticket.event) == Some(open))
        .collect();
    let change = segments.open.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut events = Vec::with_capacity(batch.events.len());
    for (event, known) in batch.events.iter().zip(known) {
        events.push(accept(&change, event, *known)?);
    }
    own.iter().try_for_each(|finished| settle(&change, finished))?;
    let deliveries =
        batch.events.iter().flat_map(|event| event.deliveries.iter().map(|owed| owed.id.as_u64()));
    let given = batch.events.iter().map(|event| event.id.as_u64()).chain(deliveries);
    note_last_id(&change, given.chain(own.iter().map(|finished| finished.attempt.id.as_u64())).max())?;
    change.commit()?;
    Ok(Receipt { events })
}

fn accept(
    change: &Transaction<'_>,
    event: &NewEvent,
    known: Option<Acceptance>,
) -> rusqlite::Result<Acceptance> {
    if let Some(key) = event.idempotency {
        let known = match known {
            Some(known) => Some(known),
            None => recognise(change, event, key)?,
        };
        match known {
            Some(known) => return Ok(known),
            None => bind(change, event, key)?,
        }
    }
    insert_event(change, event)?;
    event.tickets().try_for_each(|ticket| owe(change, event.content.account, &ticket))?;
    Ok(Acceptance::Accepted)
}

fn recognise(
    segment: &Connection,
    event: &NewEvent,
    key: Idempotency,
) -> rusqlite::Result<Option<Acceptance>> {
    let found = find_key(segment, event, key)?;
    Ok(found.map(|(known, body_hash)| match body_hash == key.body_hash {
        true => Acceptance::Duplicate(known),
        false => Acceptance::Conflict(known),
    }))
}

/// Replaces, since the same key may stand there from before its window.
fn bind(change: &Transaction<'_>, event: &NewEvent, key: Idempotency) -> rusqlite::Result<()> {
    let mut bind = change.prepare_cached("INSERT OR REPLACE INTO idempotency VALUES (?1, ?2, ?3, ?4, ?5)")?;
    bind.execute(params![
        int(event.source.as_u64()),
        key.key_hash,
        key.body_hash,
        int(event.id.as_u64()),
        time(event.content.received_at)
    ])?;
    Ok(())
}

/// Ids that were given out must not be given out again, also those of events that turned out to be duplicates.
fn note_last_id(change: &Transaction<'_>, last: Option<u64>) -> rusqlite::Result<()> {
    let Some(last) = last else { return Ok(()) };
    change.prepare_cached("UPDATE meta SET last_id = max(last_id, ?1)")?.execute([int(last)])?;
    Ok(())
}

fn find_key(
    segment: &Connection,
    event: &NewEvent,
    key: Idempotency,
) -> rusqlite::Result<Option<(EventId, [u8; 16])>> {
    let mut select = segment.prepare_cached(
        "SELECT event_id, body_hash, received_at FROM idempotency WHERE source_id = ?1 AND key_hash = ?2",
    )?;
    let found = select
        .query_row(params![int(event.source.as_u64()), key.key_hash], |row| {
            let bound_at: Timestamp = read_time(row.get(2)?);
            Ok((EventId::from_u64(uint(row.get(0)?)), row.get(1)?, bound_at))
        })
        .optional()?;
    let fresh = |bound_at: &Timestamp| event.content.received_at.since(*bound_at) < IDEMPOTENCY_WINDOW;
    Ok(found.filter(|(_, _, bound_at)| fresh(bound_at)).map(|(event, body_hash, _)| (event, body_hash)))
}

fn insert_event(history: &Transaction<'_>, event: &NewEvent) -> rusqlite::Result<()> {
    let mut insert =
        history.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    insert.execute(params![
        int(event.id.as_u64()),
        int(event.content.account.as_u64()),
        int(event.source.as_u64()),
        event.content.event_type.as_ref().map(|known| known.as_str()),
        event.external_id,
        event.replay_of.map(|id| int(id.as_u64())),
        time(event.content.received_at),
        event.content.headers.as_text(),
        deliveries_to_text(&event.deliveries),
        &event.content.body[..],
    ])?;
    Ok(())
}

/// Gives whether it is news: an outcome may be given again after a commit that failed elsewhere.
fn insert_attempt(history: &Transaction<'_>, attempt: &Attempt) -> rusqlite::Result<bool> {
    let mut insert = history.prepare_cached(
        "INSERT OR IGNORE INTO attempts VALUES
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?;
    let (next, next_due) = next_to_words(attempt.next);
    let inserted = insert.execute(params![
        int(attempt.event.as_u64()),
        int(attempt.id.as_u64()),
        int(attempt.delivery.as_u64()),
        int(attempt.destination.as_u64()),
        attempt.number,
        time(attempt.started_at),
        attempt.outcome.as_str(),
        attempt.status,
        next,
        next_due.map(time),
        attempt.problem.as_ref().map(|problem| problem.kind.as_str()),
        attempt.problem.as_ref().map(|problem| problem.sentence.as_str()),
        attempt.timing.dns.map(microseconds),
        attempt.timing.connect.map(microseconds),
        attempt.timing.tls.map(microseconds),
        attempt.timing.first_byte.map(microseconds),
        microseconds(attempt.timing.total),
        attempt.request_headers.as_text(),
        attempt.response_headers.as_text(),
        &attempt.response_body[..],
    ])?;
    Ok(inserted > 0)
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Puts a delivery into the queue.
pub(crate) fn owe(change: &Transaction<'_>, account: AccountId, ticket: &Ticket) -> rusqlite::Result<()> {
    let ordered = matches!(ticket.line.lane, Lane::Ordered(_));
    change
        .prepare_cached("INSERT INTO queue VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?
        .execute(params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            ticket.line.lane.number(),
            place(ticket),
            int(ticket.delivery.as_u64()),
            int(ticket.event.as_u64()),
            int(ticket.route.as_u64()),
            int(account.as_u64()),
            ticket.attempts,
            ticket.bytes,
            ordered.then(|| time(ticket.due)),
            ordered.then(|| ticket.priority.number()),
        ])?;
    Ok(())
}

/// Takes a delivery out of the queue; gives whether it was there.
pub(crate) fn remove(change: &Transaction<'_>, ticket: &Ticket) -> rusqlite::Result<bool> {
    let removed = change
        .prepare_cached(
            "DELETE FROM queue WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 AND place = ?4 AND delivery_id = ?5",
        )?
        .execute(params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            ticket.line.lane.number(),
            place(ticket),
            int(ticket.delivery.as_u64()),
        ])?;
    Ok(removed > 0)
}

/// Records an attempt, takes its delivery out of the queue and, if it was there, puts it where it goes next. An
/// attempt that is known changes nothing: its delivery may have been given up on, or revived, at the same place.
fn settle(change: &Transaction<'_>, finished: &Finished) -> rusqlite::Result<()> {
    let Finished { account, ticket, .. } = finished;
    if !insert_attempt(change, &finished.attempt)? || !remove(change, ticket)? {
        return Ok(());
    }
    match finished.attempt.next {
        Next::Delivered => Ok(()),
        Next::Retry { due } => owe(change, *account, &ticket.due_again(due)),
        Next::Dead(reason) => {
            give_up(change, finished, reason)?;
            match finished.blocks_line {
                true => owe(change, *account, &ticket.due_again(Timestamp::MAX)),
                false => Ok(()),
            }
        }
    }
}

fn give_up(change: &Transaction<'_>, finished: &Finished, reason: DeathReason) -> rusqlite::Result<()> {
    let (ticket, attempt) = (&finished.ticket, &finished.attempt);
    let died_at = attempt.started_at.after(attempt.timing.total);
    change
        .prepare_cached(
            "INSERT INTO dead_letters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, NULL)",
        )?
        .execute(params![
            int(ticket.delivery.as_u64()),
            int(ticket.event.as_u64()),
            int(finished.account.as_u64()),
            int(ticket.line.destination.as_u64()),
            int(ticket.route.as_u64()),
            ticket.priority.number(),
            order_key(ticket),
            ticket.attempts + 1,
            ticket.bytes,
            reason.as_str(),
            attempt.problem.as_ref().map(|problem| problem.sentence.as_str()),
            time(died_at),
        ])?;
    Ok(())
}
