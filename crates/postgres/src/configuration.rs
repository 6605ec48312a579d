//! Configuration: a document a row, and one number that grows with every change, by which nodes see that there was
//! one.

use crate::audit_log;
use crate::database::Database;
use crate::error::QueryError;
use crate::members;
use crate::sessions;
use crate::values::{column, int, read_time, time, uint};
use deadpool_postgres::{GenericClient, Object, Transaction};
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, EventTypeId, RouteId, SourceId};
use postrider_store::codec::{Document, Edit, Kind, accounts_noted, edits};
use postrider_store::{Change, Configuration, News, Shards, StoreError};

/// What of the configuration is known here.
#[derive(Default)]
pub(crate) struct Known {
    /// The version that the engine knows or is told; `None` before it has read the configuration.
    version: Option<i64>,
    /// The last one that was in the news.
    told: u64,
}

/// Held from the beginning of a change to its end, by whichever node makes it.
const CHANGE_LOCK: i64 = 0x706f_7374_636f_6e66;

/// Takes the lock on a connection that is kept for the change; gives the version, which is in the news by then.
pub(crate) async fn begin(database: &Database) -> Result<u64, QueryError> {
    // One that was begun before and never made would be waited for.
    let forgotten = database.changing.lock().await.take();
    if let Some(forgotten) = forgotten {
        end(forgotten).await;
    }
    let client = database.client().await?;
    match lock(database, &client).await {
        Ok(version) => {
            *database.changing.lock().await = Some(client);
            Ok(version)
        }
        Err(error) => {
            end(client).await;
            Err(error)
        }
    }
}

async fn lock(database: &Database, client: &Object) -> Result<u64, QueryError> {
    // A node that is frozen with the lock in its hand gives it up with its connection.
    client.batch_execute("SET idle_session_timeout = '10s'; SET lock_timeout = '15s'").await?;
    client.execute("SELECT pg_advisory_lock($1)", &[&CHANGE_LOCK]).await?;
    tell_newer(database, client).await
}

/// Gives the lock back; a connection that cannot is closed, which does too.
async fn end(client: Object) {
    let unlock = "SELECT pg_advisory_unlock_all(); RESET idle_session_timeout; RESET lock_timeout";
    if client.batch_execute(unlock).await.is_err() {
        drop(Object::take(client));
    }
}

pub(crate) async fn write(database: &Database, changes: &[Change]) -> Result<(), QueryError> {
    let begun = database.changing.lock().await.take();
    let mut client = match begun {
        Some(client) => client,
        None => database.client().await?,
    };
    let written = write_all(database, &mut client, changes).await;
    end(client).await;
    if written.is_ok() {
        database.notice.give(Shards::ALL);
    }
    written
}

async fn write_all(database: &Database, client: &mut Object, changes: &[Change]) -> Result<(), QueryError> {
    if changes.is_empty() {
        return Ok(());
    }
    let change = client.transaction().await?;
    // Whoever changes something holds this row until the end, so versions grow as changes become visible.
    let next = "UPDATE cluster SET configuration_version = configuration_version + 1 RETURNING configuration_version";
    let version: i64 = column(&change.query_one(next, &[]).await?, 0)?;
    let edits: Vec<Edit> = changes.iter().flat_map(|change| edits(change, &database.vault)).collect();
    for edit in &edits {
        apply(&change, edit, version).await?;
    }
    let noted =
        edits.iter().filter_map(|edit| if let Edit::Record(record) = edit { Some(&**record) } else { None });
    audit_log::add(&change, &noted.collect::<Vec<_>>()).await?;
    for account in accounts_noted(changes) {
        audit_log::make_room(&change, account).await?;
    }
    change.commit().await?;
    // Its own change is no news to this node: with the lock held, it has heard of all before it.
    database.known.lock().await.version = Some(version);
    Ok(())
}

async fn apply(change: &Transaction<'_>, edit: &Edit, version: i64) -> Result<(), QueryError> {
    match edit {
        Edit::Put(Document { kind, id, text }) => {
            let put = "INSERT INTO configuration VALUES ($1, $2, $3, $4) ON CONFLICT (kind, id)
                 DO UPDATE SET version = excluded.version, document = excluded.document";
            change.execute(put, &[&kind.as_str(), &int(*id), &version, text]).await?;
        }
        Edit::Delete(kind, id) => {
            // The row stays, so that other nodes see that it is gone.
            let delete = "UPDATE configuration SET version = $3, document = NULL WHERE kind = $1 AND id = $2";
            change.execute(delete, &[&kind.as_str(), &int(*id), &version]).await?;
            change.execute("DELETE FROM circuits WHERE destination_id = $1", &[&int(*id)]).await?;
        }
        Edit::DeleteRoutes(field, text) => {
            let delete = "UPDATE configuration SET version = $4, document = NULL
                 WHERE kind = $1 AND document::json ->> $2 = $3";
            change.execute(delete, &[&Kind::Route.as_str(), field, text, &version]).await?;
        }
        Edit::EndSessions(key) => sessions::end_of_key(change, *key).await?,
        // All of them together, at the end.
        Edit::Record(_) => {}
    }
    Ok(())
}

/// All that is configured.
pub(crate) async fn read(database: &Database) -> Result<Result<Configuration, StoreError>, QueryError> {
    let client = database.client().await?;
    // Before the rows: what is changed in between is read again as news.
    let version = client.query_one("SELECT configuration_version FROM cluster", &[]).await?;
    database.known.lock().await.version = Some(column(&version, 0)?);
    let mut configuration = Configuration {
        circuits: circuits(&client).await?,
        id_floor: id_floor(&client).await?,
        node: u16::try_from(database.membership.identity().node).unwrap_or(0),
        ..Configuration::default()
    };
    let rows = "SELECT kind, id, document FROM configuration WHERE document IS NOT NULL ORDER BY id";
    for row in client.query(rows, &[]).await? {
        let (kind, text): (&str, String) = (column(&row, 0)?, column(&row, 2)?);
        let kind = Kind::from_word(kind).ok_or(QueryError::Corrupt("a kind of configuration"))?;
        let document = Document { kind, id: uint(column(&row, 1)?), text };
        if let Err(bad) = configuration.add(&document, &database.vault) {
            return Ok(Err(StoreError::Broken(bad.to_string())));
        }
    }
    Ok(Ok(configuration))
}

/// Tells what other nodes have changed since this one looked last; gives the version that was told last.
pub(crate) async fn tell_newer(database: &Database, client: &impl GenericClient) -> Result<u64, QueryError> {
    // Held until it is told, so that news of changes are in their order.
    let mut known = database.known.lock().await;
    let Some(since) = known.version else { return Ok(known.told) };
    let version = client.query_one("SELECT configuration_version FROM cluster", &[]).await?;
    let version: i64 = column(&version, 0)?;
    if version == since {
        return Ok(known.told);
    }
    let rows = "SELECT kind, id, document FROM configuration WHERE version > $1 AND version <= $2 ORDER BY version, id";
    let mut changes = Vec::new();
    for row in client.query(rows, &[&since, &version]).await? {
        let kind = Kind::from_word(column(&row, 0)?).ok_or(QueryError::Corrupt("a kind of configuration"))?;
        let id = uint(column(&row, 1)?);
        changes.push(match column::<Option<String>>(&row, 2)? {
            None => deletion(kind, id),
            Some(text) => Change::put(&Document { kind, id, text }, &database.vault)
                .map_err(|_| QueryError::Corrupt("a document"))?,
        });
    }
    // Whoever waits for room may be cut off: until there is some, nothing counts as told.
    let room = database.news.reserve().await;
    *known = Known { version: Some(version), told: uint(version) };
    // An engine that is gone needs to hear nothing.
    if let Ok(room) = room {
        room.send(News::Configured(known.told, changes));
    }
    Ok(known.told)
}

fn deletion(kind: Kind, id: u64) -> Change {
    match kind {
        Kind::Account => Change::DeleteAccount(AccountId::from_u64(id)),
        Kind::ApiKey => Change::DeleteApiKey(ApiKeyId::from_u64(id)),
        Kind::Source => Change::DeleteSource(SourceId::from_u64(id)),
        Kind::Destination => Change::DeleteDestination(DestinationId::from_u64(id)),
        Kind::Route => Change::DeleteRoute(RouteId::from_u64(id)),
        Kind::EventType => Change::DeleteEventType(EventTypeId::from_u64(id)),
    }
}

/// The greatest id that is known. Ids of different nodes differ in their node.
pub(crate) async fn id_floor(client: &impl GenericClient) -> Result<u64, QueryError> {
    let greatest = "SELECT greatest((SELECT max(id) FROM events), (SELECT max(id) FROM attempts),
            (SELECT max(id) FROM configuration), (SELECT max(id) FROM replays),
            (SELECT max(id) FROM audit),
            (SELECT max(delivery_id) FROM queue), (SELECT max(delivery_id) FROM dead_letters), 0)";
    let row = client.query_one(greatest, &[]).await?;
    column(&row, 0).map(uint)
}

pub(crate) async fn keep_circuits(
    database: &Database,
    circuits: &[(DestinationId, CircuitRecord)],
) -> Result<(), QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    // It outlives the process; a crash of the server costs a destination that is down one more round of failures.
    change.batch_execute("SET LOCAL synchronous_commit = off").await?;
    // Who has taken a shard over notes its circuits from then on.
    let own = members::hold(&change, database.membership.identity()).await?;
    for (destination, record) in circuits.iter().filter(|(destination, _)| own.own(*destination)) {
        put_circuit(&change, *destination, record.circuit, Some(record.trips)).await?;
    }
    Ok(change.commit().await?)
}

/// Without `trips` they stay as they were.
pub(crate) async fn put_circuit(
    change: &impl GenericClient,
    destination: DestinationId,
    circuit: Circuit,
    trips: Option<u32>,
) -> Result<(), QueryError> {
    let id = int(destination.as_u64());
    let open_until = match circuit {
        Circuit::Closed => {
            change.execute("DELETE FROM circuits WHERE destination_id = $1", &[&id]).await?;
            return Ok(());
        }
        Circuit::Open { until } => Some(time(until)),
        Circuit::HalfOpen => None,
    };
    // One that was deleted meanwhile leaves nothing behind.
    let put = "INSERT INTO circuits SELECT id, $2, coalesce($3, 0) FROM configuration
         WHERE kind = 'destination' AND id = $1 AND document IS NOT NULL
         ON CONFLICT (destination_id) DO UPDATE
         SET open_until = excluded.open_until, trips = coalesce($3, circuits.trips)";
    let trips = trips.map(|trips| i32::try_from(trips).unwrap_or(i32::MAX));
    change.execute(put, &[&id, &open_until, &trips]).await?;
    Ok(())
}

/// Those that are not closed.
pub(crate) async fn circuits(
    client: &impl GenericClient,
) -> Result<Vec<(DestinationId, CircuitRecord)>, QueryError> {
    let rows = client
        .query("SELECT destination_id, open_until, trips FROM circuits ORDER BY destination_id", &[])
        .await?;
    let read = |row: &tokio_postgres::Row| {
        let (open_until, trips): (Option<i64>, i32) = (column(row, 1)?, column(row, 2)?);
        let circuit = match open_until {
            Some(until) => Circuit::Open { until: read_time(until) },
            None => Circuit::HalfOpen,
        };
        let id = DestinationId::from_u64(uint(column(row, 0)?));
        Ok((id, CircuitRecord { circuit, trips: u32::try_from(trips).unwrap_or(0) }))
    };
    rows.iter().map(read).collect()
}
