//! Writes one batch: into the open segment, then into `live.db`. The second commit is what makes it count.

use crate::rows::{int, read_time, time, uint};
use crate::segment::Sealed;
use crate::writer::Writer;
use postrider_core::delivery::Lane;
use postrider_core::id::EventId;
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;
use postrider_store::codec::{deliveries_to_text, next_to_words};
use postrider_store::{Acceptance, Attempt, Batch, Finished, Idempotency, NewEvent, Receipt};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::time::Duration;

pub(crate) fn commit(writer: &mut Writer, batch: &Batch) -> rusqlite::Result<Receipt> {
    if writer.torn {
        writer.segments.cut_unanswered(&writer.live)?;
        writer.torn = false;
    }
    let receipt = append_history(writer, batch)?;
    let owed = change_queue(&mut writer.live, batch, &receipt);
    writer.torn = owed.is_err();
    owed.map(|()| receipt)
}

fn append_history(writer: &mut Writer, batch: &Batch) -> rusqlite::Result<Receipt> {
    let recent = &writer.segments.recent;
    let history = writer.segments.open.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut events = Vec::with_capacity(batch.events.len());
    for event in &batch.events {
        let acceptance = match event.idempotency {
            Some(key) => recognise(&history, recent, event, key)?,
            None => Acceptance::Accepted,
        };
        if acceptance == Acceptance::Accepted {
            insert_event(&history, event)?;
        }
        events.push(acceptance);
    }
    for finished in &batch.finished {
        insert_attempt(&history, &finished.attempt)?;
    }
    history.commit()?;
    Ok(Receipt { events })
}

/// Looks the key up in the open segment and in those before it, and binds it when it is new.
fn recognise(
    history: &Transaction<'_>,
    recent: &[Sealed],
    event: &NewEvent,
    key: Idempotency,
) -> rusqlite::Result<Acceptance> {
    let sealed = recent.iter().map(|sealed| &sealed.connection);
    for segment in std::iter::once(&**history).chain(sealed) {
        if let Some((known, body_hash)) = find_key(segment, event, key)? {
            let same = body_hash == key.body_hash;
            return Ok(if same { Acceptance::Duplicate(known) } else { Acceptance::Conflict(known) });
        }
    }
    let mut bind =
        history.prepare_cached("INSERT OR REPLACE INTO idempotency VALUES (?1, ?2, ?3, ?4, ?5)")?;
    bind.execute(params![
        int(event.source.as_u64()),
        key.key_hash,
        key.body_hash,
        int(event.id.as_u64()),
        time(event.content.received_at)
    ])?;
    Ok(Acceptance::Accepted)
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

/// Replaces, since a batch whose second commit failed is given again with the same attempts.
fn insert_attempt(history: &Transaction<'_>, attempt: &Attempt) -> rusqlite::Result<()> {
    let mut insert = history.prepare_cached(
        "INSERT OR REPLACE INTO attempts VALUES
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?;
    let (next, next_due) = next_to_words(attempt.next);
    insert.execute(params![
        int(attempt.id.as_u64()),
        int(attempt.event.as_u64()),
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
    Ok(())
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn change_queue(live: &mut Connection, batch: &Batch, receipt: &Receipt) -> rusqlite::Result<()> {
    let change = live.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let accepted =
        batch.events.iter().zip(&receipt.events).filter(|(_, what)| **what == Acceptance::Accepted);
    let (mut last_event, mut last_id) = (0, 0);
    for (event, _) in accepted {
        owe(&change, event)?;
        last_event = last_event.max(event.id.as_u64());
        last_id =
            event.deliveries.iter().map(|owed| owed.id.as_u64()).fold(last_id.max(last_event), u64::max);
    }
    for finished in &batch.finished {
        settle(&change, finished)?;
        last_id = last_id.max(finished.attempt.id.as_u64());
    }
    change
        .prepare_cached("UPDATE meta SET last_event_id = max(last_event_id, ?1), last_id = max(last_id, ?2)")?
        .execute(params![int(last_event), int(last_id)])?;
    change.commit()
}

fn owe(change: &Transaction<'_>, event: &NewEvent) -> rusqlite::Result<()> {
    let mut insert =
        change.prepare_cached("INSERT INTO queue VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    for ticket in event.tickets() {
        insert.execute(params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            ticket.line.lane.number(),
            time(ticket.due),
            int(ticket.delivery.as_u64()),
            int(ticket.event.as_u64()),
            int(ticket.route.as_u64()),
            int(event.content.account.as_u64()),
            ticket.attempts,
        ])?;
    }
    Ok(())
}

/// Takes a delivery out of the queue and, if it was there, puts it where it goes next.
fn settle(change: &Transaction<'_>, finished: &Finished) -> rusqlite::Result<()> {
    let ticket = &finished.ticket;
    let removed = change
        .prepare_cached(
            "DELETE FROM queue WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 AND due_at = ?4 AND delivery_id = ?5",
        )?
        .execute(params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            ticket.line.lane.number(),
            time(ticket.due),
            int(ticket.delivery.as_u64()),
        ])?;
    match finished.attempt.next {
        _ if removed == 0 => Ok(()),
        Next::Delivered => Ok(()),
        Next::Retry { due } => owe_again(change, finished, due),
        Next::Dead(reason) => give_up(change, finished, reason),
    }
}

fn owe_again(change: &Transaction<'_>, finished: &Finished, due: Timestamp) -> rusqlite::Result<()> {
    let ticket = &finished.ticket;
    change.prepare_cached("INSERT INTO queue VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(
        params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            Lane::Retry.number(),
            time(due),
            int(ticket.delivery.as_u64()),
            int(ticket.event.as_u64()),
            int(ticket.route.as_u64()),
            int(finished.account.as_u64()),
            ticket.attempts + 1,
        ],
    )?;
    Ok(())
}

fn give_up(change: &Transaction<'_>, finished: &Finished, reason: DeathReason) -> rusqlite::Result<()> {
    let (ticket, attempt) = (&finished.ticket, &finished.attempt);
    let died_at = attempt.started_at.after(attempt.timing.total);
    change
        .prepare_cached("INSERT INTO dead_letters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
        .execute(params![
            int(ticket.delivery.as_u64()),
            int(ticket.event.as_u64()),
            int(finished.account.as_u64()),
            int(ticket.line.destination.as_u64()),
            int(ticket.route.as_u64()),
            ticket.line.priority.number(),
            ticket.attempts + 1,
            reason.as_str(),
            attempt.problem.as_ref().map(|problem| problem.sentence.as_str()),
            time(died_at),
        ])?;
    Ok(())
}
