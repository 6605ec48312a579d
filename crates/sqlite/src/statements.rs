//! The statements of a commit, looked up once for all of its rows.

use crate::checksum;
use crate::rows::{int, place, time};
use postrider_core::delivery::{Lane, Ticket};
use postrider_core::id::AccountId;
use postrider_core::time::Timestamp;
use postrider_store::codec::{deliveries_to_text, next_to_words};
use postrider_store::{Attempt, NewEvent};
use rusqlite::{CachedStatement, Connection, params};
use std::time::Duration;

pub(crate) struct Statements<'c> {
    event: CachedStatement<'c>,
    attempt: CachedStatement<'c>,
    owe: CachedStatement<'c>,
    remove: CachedStatement<'c>,
    remove_owed: CachedStatement<'c>,
}

impl<'c> Statements<'c> {
    pub(crate) fn new(segment: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Statements {
            event: segment
                .prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")?,
            attempt: segment.prepare_cached(
                "INSERT OR IGNORE INTO attempts VALUES
                 (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
            )?,
            owe: segment.prepare_cached(
                "INSERT INTO queue VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
            remove: segment.prepare_cached(
                "DELETE FROM queue WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 AND place = ?4 AND delivery_id = ?5",
            )?,
            remove_owed: segment.prepare_cached(
                "DELETE FROM queue WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 AND place = ?4 AND delivery_id = ?5
                 AND due_at IS NOT ?6",
            )?,
        })
    }

    pub(crate) fn insert_event(&mut self, event: &NewEvent) -> rusqlite::Result<()> {
        let event_type = event.content.event_type.as_ref().map(|known| known.as_str());
        let (deliveries, headers) = (deliveries_to_text(&event.deliveries), event.content.headers.as_text());
        let body = &event.content.body[..];
        self.event.execute(params![
            int(event.id.as_u64()),
            int(event.content.account.as_u64()),
            event.content.origin.source().map(|id| int(id.as_u64())),
            event.content.origin.key().map(|id| int(id.as_u64())),
            event_type,
            event.external_id,
            event.content.replay_of.map(|id| int(id.as_u64())),
            time(event.content.received_at),
            event.content.window.deliver_at.map(time),
            event.content.window.expires_at.map(time),
            deliveries,
            checksum::of(event_type, &deliveries, headers, body),
            headers,
            body,
        ])?;
        Ok(())
    }

    /// Gives whether it is news: an outcome may be given again after a commit that failed elsewhere.
    pub(crate) fn insert_attempt(&mut self, attempt: &Attempt) -> rusqlite::Result<bool> {
        let (next, next_due) = next_to_words(attempt.next);
        let inserted = self.attempt.execute(params![
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

    /// Puts a delivery into the queue.
    pub(crate) fn owe(&mut self, account: AccountId, ticket: &Ticket) -> rusqlite::Result<()> {
        let ordered = matches!(ticket.line.lane, Lane::Ordered(_));
        self.owe.execute(params![
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
    pub(crate) fn remove(&mut self, ticket: &Ticket) -> rusqlite::Result<bool> {
        let removed = self.remove.execute(params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            ticket.line.lane.number(),
            place(ticket),
            int(ticket.delivery.as_u64()),
        ])?;
        Ok(removed > 0)
    }

    /// The same, unless it stands there only because its line waits for it.
    pub(crate) fn remove_owed(&mut self, ticket: &Ticket) -> rusqlite::Result<bool> {
        let removed = self.remove_owed.execute(params![
            int(ticket.line.destination.as_u64()),
            ticket.line.priority.number(),
            ticket.line.lane.number(),
            place(ticket),
            int(ticket.delivery.as_u64()),
            time(Timestamp::MAX),
        ])?;
        Ok(removed > 0)
    }
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
