//! How dead letters go, and how deliveries become some without an attempt.

use super::{COLUMNS, read};
use crate::commit::columns::{
    PLACE_NAMES, PLACE_TYPES, Places, QUEUE_COLUMNS, QUEUE_NAMES, QUEUE_TYPES, QueueRows, unnest,
};
use crate::database::Database;
use crate::error::QueryError;
use crate::mail::Letters;
use crate::stats::DayStats;
use crate::values::{column, int, shard_of, time, uint};
use deadpool_postgres::Transaction;
use postrider_core::delivery::Ticket;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_store::{DeadLetter, DeadLetterKey, Discarded, Mail, OwedAgain, Revival};

pub(crate) async fn revive(
    database: &Database,
    account: AccountId,
    revivals: &[Revival],
    now: Timestamp,
) -> Result<OwedAgain, QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let orders: IdMap<DeliveryId, Revival> =
        revivals.iter().map(|revival| (revival.key.delivery, *revival)).collect();
    let keys: Vec<DeadLetterKey> = revivals.iter().map(|revival| revival.key).collect();
    let letters = taken(&change, account, &keys).await?;
    let deliveries: Vec<i64> = letters.iter().map(|letter| int(letter.delivery.as_u64())).collect();
    change.execute("DELETE FROM dead_letters WHERE delivery_id = ANY($1)", &[&deliveries]).await?;
    let unblocked = unblock(&change, &letters).await?;
    let (mut rows, mut stats) = (QueueRows::default(), DayStats::default());
    let mut tickets = Vec::with_capacity(letters.len());
    for letter in &letters {
        let ticket = letter.revived(orders[&letter.delivery].order, now);
        rows.push(0, account, &ticket);
        stats.of(letter.event).revived(account, now);
        tickets.push(ticket);
    }
    let owe = format!(
        "INSERT INTO queue ({QUEUE_COLUMNS}) SELECT {QUEUE_COLUMNS} FROM {} AS q({QUEUE_NAMES})",
        unnest(1, &QUEUE_TYPES)
    );
    change.execute(&owe, &rows.parameters()).await?;
    let member = database.membership.identity();
    stats.write(&change, member.node).await?;
    let mut mail = Letters::default();
    unblocked.iter().for_each(|ticket| mail.push(&Mail::Unblocked(*ticket)));
    mail.arrived(tickets.iter().copied());
    mail.write(&change, member).await?;
    change.commit().await?;
    database.notice.give(mail.shards());
    Ok(OwedAgain { tickets, unblocked })
}

pub(crate) async fn discard(
    database: &Database,
    account: AccountId,
    keys: &[DeadLetterKey],
    now: Timestamp,
) -> Result<Discarded, QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let letters = taken(&change, account, keys).await?;
    let deliveries: Vec<i64> = letters.iter().map(|letter| int(letter.delivery.as_u64())).collect();
    let discard = "UPDATE dead_letters SET discarded_at = $2 WHERE delivery_id = ANY($1)";
    change.execute(discard, &[&deliveries, &time(now)]).await?;
    let unblocked = unblock(&change, &letters).await?;
    let mut mail = Letters::default();
    unblocked.iter().for_each(|ticket| mail.push(&Mail::Unblocked(*ticket)));
    mail.write(&change, database.membership.identity()).await?;
    change.commit().await?;
    database.notice.give(mail.shards());
    Ok(Discarded { count: letters.len(), unblocked })
}

/// Those that are still dead letters, locked so that nobody else takes them; in the order asked for.
async fn taken(
    change: &Transaction<'_>,
    account: AccountId,
    keys: &[DeadLetterKey],
) -> Result<Vec<DeadLetter>, QueryError> {
    let select = format!(
        "SELECT {COLUMNS} FROM unnest($2::int8[], $3::int8[]) WITH ORDINALITY AS k(event_id, delivery_id, number)
         JOIN dead_letters d ON d.event_id = k.event_id AND d.delivery_id = k.delivery_id
         JOIN events e ON e.id = d.event_id AND e.account_id = d.account_id
         WHERE d.account_id = $1 AND d.discarded_at IS NULL ORDER BY k.number FOR UPDATE OF d"
    );
    let events: Vec<i64> = keys.iter().map(|key| int(key.event.as_u64())).collect();
    let deliveries: Vec<i64> = keys.iter().map(|key| int(key.delivery.as_u64())).collect();
    let rows = change.query(&select, &[&int(account.as_u64()), &events, &deliveries]).await?;
    let mut letters: Vec<DeadLetter> = rows.iter().map(read).collect::<Result<_, _>>()?;
    // One that is named twice is taken once.
    let mut seen = IdSet::default();
    letters.retain(|letter| seen.insert(letter.delivery));
    Ok(letters)
}

/// Takes what blocks ordered lines out of the queue; gives those that did.
async fn unblock(change: &Transaction<'_>, letters: &[DeadLetter]) -> Result<Vec<Ticket>, QueryError> {
    let blocked: Vec<Ticket> =
        letters.iter().filter(|letter| letter.order.is_some()).map(DeadLetter::blocked).collect();
    if blocked.is_empty() {
        return Ok(blocked);
    }
    let mut places = Places::default();
    blocked.iter().for_each(|ticket| places.push(ticket));
    let remove = format!(
        "DELETE FROM queue q USING {} AS g({PLACE_NAMES})
         WHERE q.shard = g.shard AND q.destination_id = g.destination_id AND q.priority = g.priority
           AND q.lane = g.lane AND q.place = g.place AND q.delivery_id = g.delivery_id RETURNING q.delivery_id",
        unnest(1, &PLACE_TYPES)
    );
    let rows = change.query(&remove, &places.parameters()).await?;
    let stood: IdSet<DeliveryId> = rows
        .iter()
        .map(|row| Ok(DeliveryId::from_u64(uint(column(row, 0)?))))
        .collect::<Result<_, QueryError>>()?;
    Ok(blocked.into_iter().filter(|ticket| stood.contains(&ticket.delivery)).collect())
}

/// Turns what a deleted destination was owed into dead letters. What blocks its line was given up on before.
/// Nothing of one that exists: a node that has not heard of it yet may take it for deleted.
pub(crate) async fn bury(
    database: &Database,
    destination: DestinationId,
    now: Timestamp,
    limit: usize,
) -> Result<usize, QueryError> {
    let bury = "WITH first AS (SELECT shard, priority, lane, place, delivery_id FROM queue
             WHERE shard = $1 AND destination_id = $2 AND NOT EXISTS (SELECT FROM configuration c
                 WHERE c.kind = 'destination' AND c.id = $2 AND c.document IS NOT NULL) ORDER BY priority, lane, place, delivery_id LIMIT $3),
         gone AS (DELETE FROM queue q USING first f
             WHERE q.shard = f.shard AND q.destination_id = $2 AND q.priority = f.priority AND q.lane = f.lane
               AND q.place = f.place AND q.delivery_id = f.delivery_id RETURNING q.*),
         dead AS (INSERT INTO dead_letters
             SELECT event_id, delivery_id, account_id, destination_id, route_id, coalesce(urgency, priority),
                    CASE WHEN lane = 3 THEN place END, attempts, bytes, $4, NULL, $5, NULL FROM gone
             ON CONFLICT DO NOTHING)
         SELECT event_id, account_id, attempts, due_at IS NOT DISTINCT FROM $6 FROM gone";
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let (shard, id) = (shard_of(destination), int(destination.as_u64()));
    let reason = DeathReason::DestinationDeleted.as_str();
    let rows = change
        .query(bury, &[&shard, &id, &int(limit as u64), &reason, &time(now), &time(Timestamp::MAX)])
        .await?;
    let mut stats = DayStats::default();
    for row in &rows {
        let (attempts, blocked): (i32, bool) = (column(row, 2)?, column(row, 3)?);
        if !blocked {
            let event = EventId::from_u64(uint(column(row, 0)?));
            let account = AccountId::from_u64(uint(column(row, 1)?));
            stats.of(event).buried(account, u32::try_from(attempts).unwrap_or(0), now);
        }
    }
    stats.write(&change, database.membership.identity().node).await?;
    change.commit().await?;
    Ok(rows.len())
}
