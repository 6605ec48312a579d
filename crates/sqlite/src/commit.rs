//! Writes one batch: events into the open segment, outcomes into the segment of their event.

use crate::rows::{int, order_key, read_time, time, uint};
use crate::segment::Segments;
use crate::starts;
use crate::statements::Statements;
use crate::stats;
use postrider_core::delivery::Ticket;
use postrider_core::id::EventId;
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;
use postrider_store::{
    Acceptance, Batch, Finished, GivenUp, Idempotency, NewEvent, Owed, Receipt, Start, StatsChange,
};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;

/// Writes a batch; so many unclean stops are noted with its starts.
pub(crate) fn commit(
    segments: &mut Segments,
    batch: &Batch,
    unclean_stops: i64,
) -> rusqlite::Result<Receipt> {
    let mut parts = parts_by_segment(segments, batch, unclean_stops);
    let of_open = parts.remove(&segments.number()).unwrap_or_default();
    write_sealed(segments, parts)?;
    let known = known_in_sealed(segments, batch)?;
    let receipt = write_open(segments, batch, &of_open, &known)?;
    for (event, acceptance) in batch.events.iter().zip(&receipt.events) {
        if *acceptance == Acceptance::Accepted {
            segments.note_event(event.id);
        }
    }
    Ok(receipt)
}

/// Outcomes of events whose segment is sealed: few, each segment in a transaction of its own. If a later one
/// fails, they are given again, which changes nothing.
fn write_sealed(segments: &mut Segments, older: BTreeMap<i64, Part<'_>>) -> rusqlite::Result<()> {
    for (number, part) in older {
        let change =
            segments.connection(number)?.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut counted = StatsChange::default();
        settle_all(&change, &mut Statements::new(&change)?, &part, &mut counted)?;
        stats::write(&change, &counted)?;
        note_last_id(&change, part.finished.iter().map(|finished| finished.attempt.id.as_u64()).max())?;
        change.commit()?;
    }
    Ok(())
}

/// What of a batch is about deliveries of one segment.
#[derive(Default)]
struct Part<'b> {
    finished: Vec<&'b Finished>,
    given_up: Vec<&'b GivenUp>,
    ends: Vec<&'b Start>,
    /// With the unclean stops that there were before.
    starts: Vec<(&'b Start, i64)>,
}

/// What is in a segment that was dropped is left out.
fn parts_by_segment<'b>(
    segments: &Segments,
    batch: &'b Batch,
    unclean_stops: i64,
) -> BTreeMap<i64, Part<'b>> {
    let mut parts: BTreeMap<i64, Part<'b>> = BTreeMap::new();
    let number = |event: EventId| segments.of_event(event);
    for (number, finished) in batch.finished.iter().filter_map(|one| Some((number(one.ticket.event)?, one))) {
        parts.entry(number).or_default().finished.push(finished);
    }
    for (number, given_up) in batch.given_up.iter().filter_map(|one| Some((number(one.ticket.event)?, one))) {
        parts.entry(number).or_default().given_up.push(given_up);
    }
    for (number, end) in batch.ends.iter().filter_map(|one| Some((number(one.event)?, one))) {
        parts.entry(number).or_default().ends.push(end);
    }
    for (number, start) in batch.starts.iter().filter_map(|one| Some((number(one.event)?, one))) {
        parts.entry(number).or_default().starts.push((start, unclean_stops));
    }
    parts
}

fn settle_all(
    change: &Transaction<'_>,
    statements: &mut Statements<'_>,
    part: &Part<'_>,
    counted: &mut StatsChange,
) -> rusqlite::Result<()> {
    part.finished.iter().try_for_each(|finished| settle(change, statements, finished, counted))?;
    part.given_up.iter().try_for_each(|given_up| give_up_untried(change, statements, given_up, counted))?;
    part.ends.iter().try_for_each(|end| starts::forget(change, end))?;
    part.starts.iter().try_for_each(|(start, unclean_stops)| starts::note(change, start, *unclean_stops))
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
    own: &Part<'_>,
    known: &[Option<Acceptance>],
) -> rusqlite::Result<Receipt> {
    let mut counted = StatsChange::default();
    let change = segments.open.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut statements = Statements::new(&change)?;
    let mut events = Vec::with_capacity(batch.events.len());
    for (event, known) in batch.events.iter().zip(known) {
        let acceptance = accept(&change, &mut statements, event, *known)?;
        if acceptance == Acceptance::Accepted {
            counted.accepted(event);
        }
        events.push(acceptance);
    }
    settle_all(&change, &mut statements, own, &mut counted)?;
    drop(statements);
    stats::write(&change, &counted)?;
    let deliveries =
        batch.events.iter().flat_map(|event| event.deliveries.iter().map(|owed| owed.id.as_u64()));
    let given = batch.events.iter().map(|event| event.id.as_u64()).chain(deliveries);
    note_last_id(
        &change,
        given.chain(own.finished.iter().map(|finished| finished.attempt.id.as_u64())).max(),
    )?;
    change.commit()?;
    Ok(Receipt { events })
}

fn accept(
    change: &Transaction<'_>,
    statements: &mut Statements<'_>,
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
    statements.insert_event(event)?;
    event.tickets().try_for_each(|ticket| statements.owe(event.content.account, &ticket))?;
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
        int(event.idempotency_scope()),
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
        "SELECT event_id, body_hash, received_at FROM idempotency WHERE scope_id = ?1 AND key_hash = ?2",
    )?;
    let found = select
        .query_row(params![int(event.idempotency_scope()), key.key_hash], |row| {
            let bound_at: Timestamp = read_time(row.get(2)?);
            Ok((EventId::from_u64(uint(row.get(0)?)), row.get(1)?, bound_at))
        })
        .optional()?;
    let fresh = |bound_at: &Timestamp| event.content.received_at.apart(*bound_at) < IDEMPOTENCY_WINDOW;
    Ok(found.filter(|(_, _, bound_at)| fresh(bound_at)).map(|(event, body_hash, _)| (event, body_hash)))
}

/// Records an attempt, takes its delivery out of the queue and, if it was there, puts it where it goes next. An
/// attempt that is known changes nothing: its delivery may have been given up on, or revived, at the same place.
fn settle(
    change: &Transaction<'_>,
    statements: &mut Statements<'_>,
    finished: &Finished,
    counted: &mut StatsChange,
) -> rusqlite::Result<()> {
    let Finished { account, ticket, attempt, blocks_line } = finished;
    if !statements.insert_attempt(attempt)? {
        return Ok(());
    }
    let owed = statements.remove(ticket)?;
    counted.finished(finished, if owed { Owed::Yes } else { Owed::No });
    match attempt.next {
        _ if !owed => Ok(()),
        Next::Delivered => Ok(()),
        Next::Retry { due } => statements.owe(*account, &ticket.due_again(due)),
        Next::Dead(reason) => {
            let last_error = attempt.problem.as_ref().map(|problem| problem.sentence.clone());
            let died_at = attempt.ended_at();
            let made = Ticket { attempts: ticket.attempts + 1, ..*ticket };
            let given_up = GivenUp {
                account: *account,
                ticket: made,
                reason,
                last_error,
                died_at,
                blocks_line: *blocks_line,
            };
            give_up(change, statements, &given_up)
        }
    }
}

/// Given again after an error, it finds nothing, or what blocks its line already.
fn give_up_untried(
    change: &Transaction<'_>,
    statements: &mut Statements<'_>,
    given_up: &GivenUp,
    counted: &mut StatsChange,
) -> rusqlite::Result<()> {
    if !statements.remove_owed(&given_up.ticket)? {
        return Ok(());
    }
    counted.given_up(given_up);
    give_up(change, statements, given_up)
}

/// Makes a dead letter of what was taken out of the queue, and puts it back if its line is to wait for it.
fn give_up(
    change: &Transaction<'_>,
    statements: &mut Statements<'_>,
    given_up: &GivenUp,
) -> rusqlite::Result<()> {
    let ticket = &given_up.ticket;
    change
        .prepare_cached(
            "INSERT INTO dead_letters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, NULL)",
        )?
        .execute(params![
            int(ticket.delivery.as_u64()),
            int(ticket.event.as_u64()),
            int(given_up.account.as_u64()),
            int(ticket.line.destination.as_u64()),
            int(ticket.route.as_u64()),
            ticket.priority.number(),
            order_key(ticket),
            ticket.attempts,
            ticket.bytes,
            given_up.reason.as_str(),
            given_up.last_error,
            time(given_up.died_at),
        ])?;
    match given_up.blocks_line {
        true => statements.owe(given_up.account, &Ticket { due: Timestamp::MAX, ..*ticket }),
        false => Ok(()),
    }
}
