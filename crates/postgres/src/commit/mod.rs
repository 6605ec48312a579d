//! Writes one batch in one transaction, guarded by this node's row among the members.

mod accept;
pub(crate) mod columns;
mod ends;
mod overtaken;
#[cfg(test)]
mod plans;
mod unknown;

use crate::database::Database;
use crate::error::QueryError;
use crate::mail::Letters;
use crate::members::Identity;
use crate::starts;
use crate::stats::DayStats;
use deadpool_postgres::Transaction;
use futures_util::future::try_join5;
use postrider_store::{Acceptance, Batch, Receipt, Shards};

/// All joins here are of a batch with a large table by its key. The planner must never take one for a reason to
/// read the table whole, whatever it believes of its size.
const BY_KEY: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off; SET LOCAL jit = off; SET LOCAL plan_cache_mode = force_generic_plan";

const GUARD: &str = "UPDATE members SET last_batch = $3 WHERE node = $1 AND incarnation = $2";

pub(crate) async fn commit(database: &Database, batch: &Batch) -> Result<Receipt, QueryError> {
    let (member, number) = database.membership.next_batch(batch.life)?;
    let mut client = database.urgent_client().await?;
    let change = client.transaction().await?;
    // All its statements are under way at once, which is much to move about.
    let (receipt, letters) = Box::pin(write(&change, batch, member, number)).await?;
    match change.commit().await {
        Ok(()) => {}
        // The server may have made it durable before the connection broke.
        Err(error) => unknown::settle(database, member, number, error).await?,
    }
    database.notice.give(letters.shards());
    Ok(receipt)
}

async fn write(
    change: &Transaction<'_>,
    batch: &Batch,
    member: Identity,
    number: i64,
) -> Result<(Receipt, Letters), QueryError> {
    let guard = change.prepare_cached(GUARD).await?;
    let accept = accept::Accept::prepare(change, batch).await?;
    let ends = ends::Ends::prepare(change, batch).await?;
    let overtaken = overtaken::Overtaken::prepare(change, batch).await?;
    accept.wait_at_midnight(change).await?;
    // Sent together, run in this order.
    let guarded = async {
        let rows = change.execute(&guard, &[&member.node, &member.incarnation, &number]).await?;
        if rows == 1 { Ok(()) } else { Err(QueryError::Fenced) }
    };
    let planned = async { Ok(change.batch_execute(BY_KEY).await?) };
    let run =
        try_join5(planned, guarded, overtaken.check(change), accept.run(change), ends.run(change)).await?;
    let ((), (), (), accepted, ended) = run;
    starts::write(change, batch).await?;
    let mut stats = DayStats::default();
    let receipt = accept.receipt(change, &accepted, &mut stats).await?;
    ends.count(&ended, &mut stats);
    stats.write(change, member.node).await?;
    let letters = letters(batch, &receipt);
    letters.write(change, member).await?;
    Ok((receipt, letters))
}

/// What the owners of other shards must hear.
fn letters(batch: &Batch, receipt: &Receipt) -> Letters {
    let accepted =
        batch.events.iter().zip(&receipt.events).filter(|(_, what)| **what == Acceptance::Accepted);
    let owed = accepted.flat_map(|(event, _)| event.tickets());
    let mut letters = Letters::default();
    if batch.own != Shards::ALL {
        letters.arrived(owed.filter(|ticket| !batch.own.own(ticket.line.destination)));
    }
    letters
}
