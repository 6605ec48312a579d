//! What ends or goes on in a batch: attempts with what follows, and what is given up on untried, a statement each.

use super::columns::{
    PLACE_NAMES, PLACE_TYPES, Places, QUEUE_COLUMNS, QUEUE_NAMES, QUEUE_TYPES, QueueRows, one_of, unnest,
};
use crate::dead_letters::Record;
use crate::dead_letters::{LETTER_NAMES, LETTER_TYPES, LetterRows};
use crate::error::QueryError;
use crate::stats::DayStats;
use crate::values::{column, int, text, time, uint};
use deadpool_postgres::Transaction;
use postrider_core::delivery::Ticket;
use postrider_core::map::IdSet;
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;
use postrider_store::codec::next_to_words;
use postrider_store::{Batch, Finished, GivenUp, Owed};
use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

const ATTEMPT_TYPES: [&str; 21] = [
    "int8", "int8", "int8", "int8", "int8", "int4", "int8", "text", "int2", "text", "int8", "text", "text",
    "int8", "int8", "int8", "int8", "int8", "text", "text", "bytea",
];

/// Takes rows out of the queue and puts in what follows for those that were there.
fn ending(first: usize, owed_only: &str) -> String {
    let places = unnest(first + 1, &PLACE_TYPES);
    let again = unnest(first + 1 + PLACE_TYPES.len(), &QUEUE_TYPES);
    let letters = unnest(first + 1 + PLACE_TYPES.len() + QUEUE_TYPES.len(), &LETTER_TYPES);
    let numbers = format!("${first}::int8[]");
    // The places are matched by the number beside them.
    let places = places.replacen("unnest(", &format!("unnest({numbers}, "), 1);
    format!(
        "gone AS (DELETE FROM queue q USING {places} AS g(wanted, {PLACE_NAMES})
            WHERE q.shard = g.shard AND q.destination_id = g.destination_id AND q.priority = g.priority
              AND q.lane = g.lane AND q.place = g.place AND q.delivery_id = g.delivery_id {owed_only}
            RETURNING g.wanted),
         again AS (INSERT INTO queue ({QUEUE_COLUMNS}) SELECT {QUEUE_COLUMNS} FROM {again} AS r({QUEUE_NAMES})
            WHERE {ended}),
         dead AS (INSERT INTO dead_letters SELECT {LETTER_COLUMNS}, NULL FROM {letters} AS d(wanted, {LETTER_COLUMNS})
            WHERE {ended})",
        ended = one_of("wanted", "SELECT wanted FROM gone"),
        LETTER_COLUMNS = LETTER_NAMES,
    )
}

pub(super) static FINISH: LazyLock<String> = LazyLock::new(|| {
    let attempts = unnest(1, &ATTEMPT_TYPES);
    // An attempt that is known changes nothing: its delivery may have been given up on, or revived, since.
    let is_news = format!("AND {}", one_of("g.wanted", "SELECT id FROM news"));
    let ending = ending(1 + ATTEMPT_TYPES.len(), &is_news);
    format!(
        "WITH news AS (INSERT INTO attempts SELECT * FROM {attempts} ON CONFLICT DO NOTHING RETURNING id),
         {ending}
         SELECT id, {owed} FROM news",
        owed = one_of("id", "SELECT wanted FROM gone"),
    )
});

pub(super) static GIVE_UP: LazyLock<String> = LazyLock::new(|| {
    // One that stands there only because its line waits for it is given up on already.
    let ending = ending(1, &format!("AND q.due_at IS DISTINCT FROM {}", time(Timestamp::MAX)));
    format!("WITH {ending} SELECT wanted, true FROM gone")
});

/// Which attempts were news, and whose deliveries were owed until then.
pub(super) struct Ended {
    news: IdSet<u64>,
    owed: IdSet<u64>,
    given_up: IdSet<u64>,
}

pub(super) struct Ends<'b> {
    batch: &'b Batch,
    finish: Option<(Statement, AttemptColumns<'b>, Ending<'b>)>,
    give_up: Option<(Statement, Ending<'b>)>,
}

impl<'b> Ends<'b> {
    pub(super) async fn prepare(change: &Transaction<'_>, batch: &'b Batch) -> Result<Self, QueryError> {
        let mut ends = Ends { batch, finish: None, give_up: None };
        if !batch.finished.is_empty() {
            let statement = change.prepare_cached(&FINISH).await?;
            let (mut attempts, mut ending) = (AttemptColumns::default(), Ending::default());
            for finished in &batch.finished {
                attempts.push(finished);
                ending.finished(finished);
            }
            ends.finish = Some((statement, attempts, ending));
        }
        if !batch.given_up.is_empty() {
            let mut ending = Ending::default();
            batch.given_up.iter().for_each(|given_up| ending.given_up(given_up));
            ends.give_up = Some((change.prepare_cached(&GIVE_UP).await?, ending));
        }
        Ok(ends)
    }

    pub(super) async fn run(&self, change: &Transaction<'_>) -> Result<Ended, QueryError> {
        let mut ended = Ended { news: IdSet::default(), owed: IdSet::default(), given_up: IdSet::default() };
        if let Some((statement, attempts, ending)) = &self.finish {
            let mut parameters = attempts.parameters().to_vec();
            parameters.extend(ending.parameters());
            for row in change.query(statement, &parameters).await? {
                let id = uint(column(&row, 0)?);
                ended.news.insert(id);
                if column(&row, 1)? {
                    ended.owed.insert(id);
                }
            }
        }
        if let Some((statement, ending)) = &self.give_up {
            for row in change.query(statement, &ending.parameters()).await? {
                ended.given_up.insert(uint(column(&row, 0)?));
            }
        }
        Ok(ended)
    }

    pub(super) fn count(&self, ended: &Ended, stats: &mut DayStats) {
        for finished in &self.batch.finished {
            let id = finished.attempt.id.as_u64();
            if ended.news.contains(&id) {
                let owed = if ended.owed.contains(&id) { Owed::Yes } else { Owed::No };
                stats.of(finished.ticket.event).finished(finished, owed);
            }
        }
        for given_up in &self.batch.given_up {
            if ended.given_up.contains(&given_up.ticket.delivery.as_u64()) {
                stats.of(given_up.ticket.event).given_up(given_up);
            }
        }
    }
}

/// Places that are left, and what follows there.
#[derive(Default)]
struct Ending<'b> {
    wanted: Vec<i64>,
    places: Places,
    again: QueueRows,
    letters: LetterRows<'b>,
}

impl<'b> Ending<'b> {
    fn leave(&mut self, wanted: u64, ticket: &Ticket) {
        self.wanted.push(int(wanted));
        self.places.push(ticket);
    }

    fn finished(&mut self, finished: &'b Finished) {
        let (ticket, attempt) = (&finished.ticket, &finished.attempt);
        let wanted = attempt.id.as_u64();
        self.leave(wanted, ticket);
        match attempt.next {
            Next::Delivered => {}
            Next::Retry { due } => self.again.push(wanted, finished.account, &ticket.due_again(due)),
            Next::Dead(reason) => {
                self.letters.push(
                    wanted,
                    &Record {
                        account: finished.account,
                        ticket,
                        attempts: ticket.attempts + 1,
                        reason,
                        last_error: attempt.problem.as_ref().map(|problem| problem.sentence.as_str()),
                        died_at: attempt.ended_at(),
                    },
                );
                if finished.blocks_line {
                    self.again.push(wanted, finished.account, &ticket.due_again(Timestamp::MAX));
                }
            }
        }
    }

    fn given_up(&mut self, given_up: &'b GivenUp) {
        let ticket = &given_up.ticket;
        let wanted = ticket.delivery.as_u64();
        self.leave(wanted, ticket);
        self.letters.push(
            wanted,
            &Record {
                account: given_up.account,
                ticket,
                attempts: ticket.attempts,
                reason: given_up.reason,
                last_error: given_up.last_error.as_deref(),
                died_at: given_up.died_at,
            },
        );
        if given_up.blocks_line {
            self.again.push(wanted, given_up.account, &Ticket { due: Timestamp::MAX, ..*ticket });
        }
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&self.wanted];
        parameters.extend(self.places.parameters());
        parameters.extend(self.again.parameters());
        parameters.extend(self.letters.parameters());
        parameters
    }
}

#[derive(Default)]
struct AttemptColumns<'b> {
    event: Vec<i64>,
    id: Vec<i64>,
    account: Vec<i64>,
    delivery: Vec<i64>,
    destination: Vec<i64>,
    number: Vec<i32>,
    started_at: Vec<i64>,
    outcome: Vec<&'b str>,
    status: Vec<Option<i16>>,
    next: Vec<&'b str>,
    next_due_at: Vec<Option<i64>>,
    error_kind: Vec<Option<&'b str>>,
    error: Vec<Option<Cow<'b, str>>>,
    dns: Vec<Option<i64>>,
    connect: Vec<Option<i64>>,
    tls: Vec<Option<i64>>,
    first_byte: Vec<Option<i64>>,
    total: Vec<i64>,
    request_headers: Vec<Cow<'b, str>>,
    response_headers: Vec<Cow<'b, str>>,
    response_body: Vec<&'b [u8]>,
}

impl<'b> AttemptColumns<'b> {
    fn push(&mut self, finished: &'b Finished) {
        let attempt = &finished.attempt;
        let (next, next_due) = next_to_words(attempt.next);
        self.event.push(int(attempt.event.as_u64()));
        self.id.push(int(attempt.id.as_u64()));
        self.account.push(int(finished.account.as_u64()));
        self.delivery.push(int(attempt.delivery.as_u64()));
        self.destination.push(int(attempt.destination.as_u64()));
        self.number.push(i32::try_from(attempt.number).unwrap_or(i32::MAX));
        self.started_at.push(time(attempt.started_at));
        self.outcome.push(attempt.outcome.as_str());
        self.status.push(attempt.status.and_then(|status| i16::try_from(status).ok()));
        self.next.push(next);
        self.next_due_at.push(next_due.map(time));
        self.error_kind.push(attempt.problem.as_ref().map(|problem| problem.kind.as_str()));
        self.error.push(attempt.problem.as_ref().map(|problem| text(&problem.sentence)));
        self.dns.push(attempt.timing.dns.map(microseconds));
        self.connect.push(attempt.timing.connect.map(microseconds));
        self.tls.push(attempt.timing.tls.map(microseconds));
        self.first_byte.push(attempt.timing.first_byte.map(microseconds));
        self.total.push(microseconds(attempt.timing.total));
        self.request_headers.push(text(attempt.request_headers.as_text()));
        self.response_headers.push(text(attempt.response_headers.as_text()));
        self.response_body.push(&attempt.response_body);
    }

    fn parameters(&self) -> [&(dyn ToSql + Sync); 21] {
        [
            &self.event,
            &self.id,
            &self.account,
            &self.delivery,
            &self.destination,
            &self.number,
            &self.started_at,
            &self.outcome,
            &self.status,
            &self.next,
            &self.next_due_at,
            &self.error_kind,
            &self.error,
            &self.dns,
            &self.connect,
            &self.tls,
            &self.first_byte,
            &self.total,
            &self.request_headers,
            &self.response_headers,
            &self.response_body,
        ]
    }
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
