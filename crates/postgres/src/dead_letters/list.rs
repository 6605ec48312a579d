//! Lists of dead letters. A filter looks through only so many at a time.

use super::{COLUMNS, read};
use crate::error::QueryError;
use crate::values::{int, time};
use deadpool_postgres::GenericClient;
use postrider_store::{DeadLetter, DeadLetterOrder, DeadLetterPage, DeadLetterQuery};
use std::ops::Range;

/// Rows read at once, and looked through for one page.
const STEP: usize = 1000;
const SCAN_MAX: usize = 20_000;

pub(crate) async fn list(
    client: &impl GenericClient,
    query: &DeadLetterQuery,
) -> Result<DeadLetterPage, QueryError> {
    let mut page = DeadLetterPage::default();
    let mut range = range(query);
    for _ in 0..SCAN_MAX / STEP {
        let rows = scan(client, query, &range).await?;
        let last_rows = rows.len() < STEP;
        for letter in rows {
            let position = letter.position();
            let place = (time(position.died_at), int(position.delivery.as_u64()));
            range = behind(&range, place, query.order);
            page.next = Some(position);
            if query.filter.matches(&letter) {
                // One more than asked for tells that there are more.
                if page.items.len() == query.limit {
                    page.next = page.items.last().map(DeadLetter::position);
                    return Ok(page);
                }
                page.items.push(letter);
            }
        }
        if last_rows {
            return Ok(DeadLetterPage { next: None, ..page });
        }
    }
    Ok(page)
}

type Place = (i64, i64);

async fn scan(
    client: &impl GenericClient,
    query: &DeadLetterQuery,
    range: &Range<Place>,
) -> Result<Vec<DeadLetter>, QueryError> {
    let way = match query.order {
        DeadLetterOrder::NewestFirst => "DESC",
        DeadLetterOrder::OldestFirst => "ASC",
    };
    // Of dead letters that are named there are few.
    let among: Option<Vec<i64>> =
        query.filter.deliveries.as_ref().map(|ids| ids.iter().map(|id| int(id.as_u64())).collect());
    let named = if among.is_some() { "AND d.delivery_id = ANY($6)" } else { "AND $6::int8[] IS NULL" };
    let select = format!(
        "SELECT {COLUMNS} FROM dead_letters d JOIN events e ON e.id = d.event_id AND e.account_id = d.account_id
         WHERE d.account_id = $1 AND d.discarded_at IS NULL
           AND (d.died_at, d.delivery_id) >= ($2, $3) AND (d.died_at, d.delivery_id) < ($4, $5) {named}
         ORDER BY d.died_at {way}, d.delivery_id {way} LIMIT {STEP}"
    );
    let account = int(query.account.as_u64());
    let (start, end) = (range.start, range.end);
    let rows = client.query(&select, &[&account, &start.0, &start.1, &end.0, &end.1, &among]).await?;
    rows.iter().map(read).collect()
}

/// The positions to look through, as SQL compares them.
fn range(query: &DeadLetterQuery) -> Range<Place> {
    let since = (query.filter.since.map_or(0, time), 0);
    let until = (query.filter.until.map_or(i64::MAX, time), 0);
    match query.after {
        None => since..until,
        Some(after) => {
            behind(&(since..until), (time(after.died_at), int(after.delivery.as_u64())), query.order)
        }
    }
}

/// What of a range comes behind a place.
fn behind(range: &Range<Place>, place: Place, order: DeadLetterOrder) -> Range<Place> {
    match order {
        DeadLetterOrder::NewestFirst => range.start..range.end.min(place),
        DeadLetterOrder::OldestFirst => range.start.max((place.0, place.1.saturating_add(1)))..range.end,
    }
}
