//! Lists of dead letters. A filter looks through only so many at a time.

use super::{COLUMNS, read};
use crate::error::QueryError;
use crate::values::{int, time};
use deadpool_postgres::GenericClient;
use postrider_core::limits::SCAN_DEAD_LETTERS_MAX;
use postrider_store::{DeadLetter, DeadLetterOrder, DeadLetterPage, DeadLetterPosition, DeadLetterQuery};
use std::ops::Range;

/// Rows read at once.
const STEP: usize = 1000;

pub(crate) async fn list(
    client: &impl GenericClient,
    query: &DeadLetterQuery,
) -> Result<DeadLetterPage, QueryError> {
    let mut page = DeadLetterPage::default();
    let mut range = query.range();
    for _ in 0..SCAN_DEAD_LETTERS_MAX / STEP {
        let rows = scan(client, query, &range).await?;
        let last_rows = rows.len() < STEP;
        for letter in rows {
            let position = letter.position();
            range = query.order.behind(&range, position);
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

async fn scan(
    client: &impl GenericClient,
    query: &DeadLetterQuery,
    range: &Range<DeadLetterPosition>,
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
    let place = |at: DeadLetterPosition| (time(at.died_at), int(at.delivery.as_u64()));
    let (start, end) = (place(range.start), place(range.end));
    let rows = client.query(&select, &[&account, &start.0, &start.1, &end.0, &end.1, &among]).await?;
    rows.iter().map(read).collect()
}
