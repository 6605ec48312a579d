//! This node among the others: its number, its lease, and the shards that it owns.

use crate::error::QueryError;
use crate::notice;
use crate::values::column;
use deadpool_postgres::{GenericClient, Object, Transaction};
use postrider_store::{Shard, Shards};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number has ten bits of every id.
const NODES_MAX: i32 = 1024;

/// Who this node is. Another life has another incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) node: i32,
    pub(crate) incarnation: i64,
}

pub(crate) struct Membership {
    first: Identity,
    life: Mutex<Life>,
}

struct Life {
    /// From 0.
    number: u64,
    identity: Identity,
    /// The number of its last batch.
    batch: i64,
}

impl Membership {
    pub(crate) fn new(identity: Identity) -> Self {
        Membership { first: identity, life: Mutex::new(Life { number: 0, identity, batch: 0 }) }
    }

    /// Who it was when it started: nobody else was, and it stays so in later lives, as what it has in memory does.
    pub(crate) fn first(&self) -> Identity {
        self.first
    }

    pub(crate) fn identity(&self) -> Identity {
        self.life().identity
    }

    /// A new life, and its number: its batches count from the beginning.
    pub(crate) fn begin_anew(&self, identity: Identity) -> u64 {
        let mut life = self.life();
        *life = Life { number: life.number + 1, identity, batch: 0 };
        life.number
    }

    /// The number of the next batch, and whose it is: one life's number under another would make a later batch look
    /// written that is not. Fenced, when it was made in another life: whoever made it had not heard yet that it is over.
    pub(crate) fn next_batch(&self, made_in: u64) -> Result<(Identity, i64), QueryError> {
        let mut life = self.life();
        if made_in != life.number {
            return Err(QueryError::Fenced);
        }
        life.batch += 1;
        Ok((life.identity, life.batch))
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the least free number. What the last life of it wrote is known under its own incarnation. The number of one
/// that died is for a while for nobody but who has its name: it may live, and make ids with it until it hears that it
/// was taken for dead.
pub(crate) async fn join(client: &mut Object, name: &str, lease: Duration) -> Result<Identity, QueryError> {
    bury_dead(client).await?;
    let join = "INSERT INTO members
         SELECT number, (extract(epoch FROM clock_timestamp()) * 1000000)::int8, $1, $2, 0, now(),
                now() + $3::float8 * interval '1 second'
         FROM generate_series(0, $4) AS number
         WHERE NOT EXISTS (SELECT FROM members WHERE node = number)
           AND NOT EXISTS (SELECT FROM departed d WHERE d.node = number AND d.name <> $1
                AND d.left_at > now() - interval '1 minute')
         ORDER BY number LIMIT 1
         ON CONFLICT DO NOTHING RETURNING node, incarnation";
    // Two that join at once see the same number free; the second finds it taken and looks again.
    for _ in 0..NODES_MAX {
        let lease = lease.as_secs_f64();
        let row =
            client.query_opt(join, &[&name, &env!("CARGO_PKG_VERSION"), &lease, &(NODES_MAX - 1)]).await?;
        if let Some(row) = row {
            notice::announce(client).await?;
            return Ok(Identity { node: column(&row, 0)?, incarnation: column(&row, 1)? });
        }
    }
    Err(QueryError::TooManyNodes(NODES_MAX))
}

/// Lives on. `false` when it was taken for dead.
pub(crate) async fn renew(
    client: &impl GenericClient,
    identity: Identity,
    lease: Duration,
) -> Result<bool, QueryError> {
    let renew =
        "UPDATE members SET lease_until = now() + $3::float8 * interval '1 second', renewed_at = now()
         WHERE node = $1 AND incarnation = $2";
    let lease = lease.as_secs_f64();
    Ok(client.execute(renew, &[&identity.node, &identity.incarnation, &lease]).await? == 1)
}

/// All that are alive.
pub(crate) async fn all(client: &impl GenericClient) -> Result<Vec<Identity>, QueryError> {
    let rows = client.query("SELECT node, incarnation FROM members ORDER BY node", &[]).await?;
    rows.iter().map(|row| Ok(Identity { node: column(row, 0)?, incarnation: column(row, 1)? })).collect()
}

/// What a member owns.
pub(crate) async fn owned(client: &impl GenericClient, identity: Identity) -> Result<Shards, QueryError> {
    let select = "SELECT shard FROM shards WHERE owner = $1 AND incarnation = $2";
    let rows = client.query(select, &[&identity.node, &identity.incarnation]).await?;
    rows.iter().map(|row| shard(column(row, 0)?)).collect()
}

/// What a member owns, and has until the end of this transaction.
pub(crate) async fn hold(change: &Transaction<'_>, identity: Identity) -> Result<Shards, QueryError> {
    let select = "SELECT shard FROM shards WHERE owner = $1 AND incarnation = $2 ORDER BY shard FOR SHARE";
    let rows = change.query(select, &[&identity.node, &identity.incarnation]).await?;
    rows.iter().map(|row| shard(column(row, 0)?)).collect()
}

/// Whether something may still be in flight of a shard that nobody owns.
pub(crate) async fn left_unclean(client: &impl GenericClient) -> Result<bool, QueryError> {
    let row =
        client.query_one("SELECT EXISTS (SELECT FROM shards WHERE owner IS NULL AND NOT clean)", &[]).await?;
    column(&row, 0)
}

pub(crate) fn shard(number: i32) -> Result<Shard, QueryError> {
    u64::try_from(number).ok().and_then(Shard::from_number).ok_or(QueryError::Corrupt("a shard"))
}

/// As SQL has them.
pub(crate) fn numbers(shards: Shards) -> Vec<i32> {
    shards.iter().map(|shard| i32::from(shard.number())).collect()
}

/// Takes members whose lease is over for dead, and frees what has no member to its owner, whatever came of that. Waits
/// for a batch that one of them is writing.
pub(crate) async fn bury_dead(client: &mut Object) -> Result<u64, QueryError> {
    let change = client.transaction().await?;
    let bury =
        "WITH dead AS (DELETE FROM members WHERE lease_until < now() RETURNING node, incarnation, name, last_batch)
         INSERT INTO departed SELECT node, incarnation, name, last_batch, now() FROM dead";
    let buried = change.execute(bury, &[]).await?;
    let freed = free_ownerless(&change).await?;
    if buried > 0 || freed > 0 {
        notice::announce(&change).await?;
    }
    change.commit().await?;
    Ok(buried)
}

/// Locks first and looks then: a statement that had waited for a lock would judge who took the shard meanwhile by the
/// members of its beginning, and take it from one that had just joined.
async fn free_ownerless(change: &Transaction<'_>) -> Result<u64, QueryError> {
    const OWNERLESS: &str = "owner IS NOT NULL AND NOT EXISTS
         (SELECT FROM members m WHERE m.node = owner AND m.incarnation = shards.incarnation)";
    let lock = format!("SELECT shard FROM shards WHERE {OWNERLESS} ORDER BY shard FOR UPDATE");
    if change.query(&lock, &[]).await?.is_empty() {
        return Ok(0);
    }
    let free = format!(
        "UPDATE shards SET owner = NULL, incarnation = NULL, clean = false, unclean_stops = unclean_stops + 1
         WHERE {OWNERLESS}"
    );
    Ok(change.execute(&free, &[]).await?)
}

/// Shards that are now ours.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    pub(crate) shards: Shards,
    /// Those of them whose last owner left nothing in flight.
    pub(crate) clean: Shards,
}

/// Takes these shards, as far as they are free. One that is leaving takes none: it has let go of all that it had, and
/// nobody would free them.
pub(crate) async fn take(
    client: &impl GenericClient,
    identity: Identity,
    wanted: Shards,
) -> Result<Taken, QueryError> {
    if wanted.is_empty() {
        return Ok(Taken::default());
    }
    let take = "WITH me AS (SELECT FROM members WHERE node = $1 AND incarnation = $2 FOR KEY SHARE),
         free AS (SELECT shard, clean FROM shards WHERE owner IS NULL AND shard = ANY($3)
             AND EXISTS (SELECT FROM me) ORDER BY shard FOR UPDATE SKIP LOCKED)
         UPDATE shards s SET owner = $1, incarnation = $2, epoch = epoch + 1, clean = false,
                takeovers = takeovers + (NOT s.clean)::int
         FROM free WHERE s.shard = free.shard RETURNING s.shard, free.clean";
    let rows = client.query(take, &[&identity.node, &identity.incarnation, &numbers(wanted)]).await?;
    let mut taken = Taken::default();
    for row in &rows {
        let shard = shard(column(row, 0)?)?;
        taken.shards = taken.shards.with(shard);
        if column(row, 1)? {
            taken.clean = taken.clean.with(shard);
        }
    }
    Ok(taken)
}

/// Gives shards up of which nothing is in flight here: they are free at once. Who takes one that is not clean waits, as after
/// an owner that was cut off.
pub(crate) async fn hand_over(
    client: &impl GenericClient,
    identity: Identity,
    shards: Shards,
    clean: Shards,
) -> Result<(), QueryError> {
    let free = "UPDATE shards SET owner = NULL, incarnation = NULL, clean = shard = ANY($4)
         WHERE owner = $1 AND incarnation = $2 AND shard = ANY($3)";
    let (shards, clean) = (numbers(shards), numbers(clean));
    if client.execute(free, &[&identity.node, &identity.incarnation, &shards, &clean]).await? > 0 {
        notice::announce(client).await?;
    }
    Ok(())
}

/// Leaves in order, with nothing in flight. No member first, so that what it is taking meanwhile is freed as well.
pub(crate) async fn leave(change: &Transaction<'_>, identity: Identity) -> Result<(), QueryError> {
    let leave = "WITH gone AS (DELETE FROM members WHERE node = $1 AND incarnation = $2 RETURNING *)
         INSERT INTO departed SELECT node, incarnation, name, last_batch, now() FROM gone";
    change.execute(leave, &[&identity.node, &identity.incarnation]).await?;
    hand_over(change, identity, Shards::ALL, Shards::ALL).await
}
