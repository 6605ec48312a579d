//! Configuration in `live.db`: small tables, written whole, read whole at start.

mod destination;

use crate::circuits;
use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, time, uint};
use destination::{put_destination, read_destination};
use postrider_core::account::Weight;
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::PriorityRule;
use postrider_core::retry::RetryPolicy;
use postrider_store::codec::{policy_from_json, policy_to_json, rules_from_json, rules_to_json};
use postrider_store::{Account, ApiKey, Change, Configuration, Route, Source, SourceAuth};
use rusqlite::{Connection, Row, Transaction, params};

pub(crate) fn write(live: &mut Connection, changes: &[Change]) -> rusqlite::Result<()> {
    let transaction = live.transaction()?;
    for change in changes {
        let id = write_one(&transaction, change)?;
        transaction.execute("UPDATE meta SET last_id = max(last_id, ?1)", [int(id)])?;
    }
    transaction.commit()
}

/// Gives the id of what was changed.
fn write_one(into: &Transaction<'_>, change: &Change) -> rusqlite::Result<u64> {
    match change {
        Change::PutAccount(account) => put_account(into, account),
        Change::PutApiKey(key) => put_api_key(into, key),
        Change::PutSource(source) => put_source(into, source),
        Change::PutDestination(destination) => put_destination(into, destination),
        Change::PutRoute(route) => put_route(into, route),
        Change::DeleteSource(id) => {
            into.execute("DELETE FROM routes WHERE source_id = ?1", [int(id.as_u64())])?;
            into.execute("DELETE FROM sources WHERE id = ?1", [int(id.as_u64())])?;
            Ok(id.as_u64())
        }
        Change::DeleteDestination(id) => {
            into.execute("DELETE FROM routes WHERE destination_id = ?1", [int(id.as_u64())])?;
            into.execute("DELETE FROM circuits WHERE destination_id = ?1", [int(id.as_u64())])?;
            into.execute("DELETE FROM destinations WHERE id = ?1", [int(id.as_u64())])?;
            Ok(id.as_u64())
        }
        Change::DeleteRoute(id) => {
            into.execute("DELETE FROM routes WHERE id = ?1", [int(id.as_u64())])?;
            Ok(id.as_u64())
        }
    }
}

fn put_account(into: &Transaction<'_>, account: &Account) -> rusqlite::Result<u64> {
    into.execute(
        "INSERT OR REPLACE INTO accounts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            int(account.id.as_u64()),
            account.name,
            account.weight.get(),
            account.max_in_flight,
            account.max_pending.map(int),
            account.max_pending_bytes.map(int),
            time(account.created_at)
        ],
    )?;
    Ok(account.id.as_u64())
}

fn put_api_key(into: &Transaction<'_>, key: &ApiKey) -> rusqlite::Result<u64> {
    into.execute(
        "INSERT OR REPLACE INTO api_keys VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            int(key.id.as_u64()),
            int(key.account.as_u64()),
            key.name,
            key.prefix,
            key.hash,
            time(key.created_at),
            key.revoked_at.map(time)
        ],
    )?;
    Ok(key.id.as_u64())
}

fn put_source(into: &Transaction<'_>, source: &Source) -> rusqlite::Result<u64> {
    let (header, secret) = match &source.auth {
        SourceAuth::None => (None, None),
        SourceAuth::SharedSecret { header, secret } => (Some(header), Some(secret)),
    };
    into.execute(
        "INSERT OR REPLACE INTO sources VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            int(source.id.as_u64()),
            int(source.account.as_u64()),
            source.name,
            source.token,
            header,
            secret,
            source.provider,
            source.active,
            time(source.created_at)
        ],
    )?;
    Ok(source.id.as_u64())
}

fn put_route(into: &Transaction<'_>, route: &Route) -> rusqlite::Result<u64> {
    into.execute(
        "INSERT OR REPLACE INTO routes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            int(route.id.as_u64()),
            int(route.account.as_u64()),
            route.source.map(|id| int(id.as_u64())),
            int(route.destination.as_u64()),
            route.pattern.as_str(),
            route.priority.number(),
            rules_to_json(&route.priority_rules).to_string(),
            route.retry_policy.as_ref().map(policy_text),
            route.active,
            time(route.created_at)
        ],
    )?;
    Ok(route.id.as_u64())
}

pub(crate) fn read(reader: &mut Reader, unclean_stop: bool) -> rusqlite::Result<Configuration> {
    let id_floor = id_floor(reader)?;
    let live = reader.live();
    Ok(Configuration {
        accounts: all(live, "accounts", read_account)?,
        api_keys: all(live, "api_keys", read_api_key)?,
        sources: all(live, "sources", read_source)?,
        destinations: all(live, "destinations", read_destination)?,
        routes: all(live, "routes", read_route)?,
        circuits: circuits::read(live)?,
        id_floor,
        unclean_stop,
    })
}

/// The greatest id that any file knows.
fn id_floor(reader: &mut Reader) -> rusqlite::Result<u64> {
    let last_id =
        |connection: &Connection| connection.query_row("SELECT last_id FROM meta", [], |row| row.get(0));
    let mut floor: i64 = last_id(reader.live())?;
    for listed in reader.segments()? {
        if let Some(segment) = reader.segment(listed.number)? {
            floor = floor.max(last_id(segment)?);
        }
    }
    Ok(uint(floor))
}

fn all<T>(
    live: &Connection,
    table: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut select = live.prepare(&format!("SELECT * FROM {table} ORDER BY id"))?;
    let rows = select.query_map([], read)?;
    rows.collect()
}

fn read_account(row: &Row<'_>) -> rusqlite::Result<Account> {
    let limit = |column| row.get::<_, Option<i64>>(column).map(|limit| limit.map(uint));
    Ok(Account {
        id: AccountId::from_u64(uint(row.get("id")?)),
        name: row.get("name")?,
        weight: Weight::new(uint(row.get("weight")?)).map_err(|_| corrupt("a weight"))?,
        max_in_flight: row.get("max_in_flight")?,
        max_pending: limit("max_pending")?,
        max_pending_bytes: limit("max_pending_bytes")?,
        created_at: read_time(row.get("created_at")?),
    })
}

fn read_api_key(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let revoked_at: Option<i64> = row.get("revoked_at")?;
    Ok(ApiKey {
        id: ApiKeyId::from_u64(uint(row.get("id")?)),
        account: AccountId::from_u64(uint(row.get("account_id")?)),
        name: row.get("name")?,
        prefix: row.get("prefix")?,
        hash: row.get("hash")?,
        created_at: read_time(row.get("created_at")?),
        revoked_at: revoked_at.map(read_time),
    })
}

fn read_source(row: &Row<'_>) -> rusqlite::Result<Source> {
    let auth = match (row.get("auth_header")?, row.get("auth_secret")?) {
        (Some(header), Some(secret)) => SourceAuth::SharedSecret { header, secret },
        _ => SourceAuth::None,
    };
    Ok(Source {
        id: SourceId::from_u64(uint(row.get("id")?)),
        account: AccountId::from_u64(uint(row.get("account_id")?)),
        name: row.get("name")?,
        token: row.get("token")?,
        auth,
        provider: row.get("provider")?,
        active: row.get("active")?,
        created_at: read_time(row.get("created_at")?),
    })
}

fn read_route(row: &Row<'_>) -> rusqlite::Result<Route> {
    let source: Option<i64> = row.get("source_id")?;
    let pattern: String = row.get("pattern")?;
    Ok(Route {
        id: RouteId::from_u64(uint(row.get("id")?)),
        account: AccountId::from_u64(uint(row.get("account_id")?)),
        source: source.map(|id| SourceId::from_u64(uint(id))),
        destination: DestinationId::from_u64(uint(row.get("destination_id")?)),
        pattern: EventPattern::parse(&pattern).map_err(|_| corrupt("a pattern"))?,
        priority: Priority::from_number(uint(row.get("priority")?)).ok_or_else(|| corrupt("a priority"))?,
        priority_rules: read_rules(row)?,
        retry_policy: read_policy(row)?,
        active: row.get("active")?,
        created_at: read_time(row.get("created_at")?),
    })
}

fn read_rules(row: &Row<'_>) -> rusqlite::Result<Vec<PriorityRule>> {
    let text: String = row.get("priority_rules")?;
    let value = serde_json::from_str(&text).map_err(|_| corrupt("priority rules"))?;
    rules_from_json(&value).map_err(|_| corrupt("priority rules"))
}

fn policy_text(policy: &RetryPolicy) -> String {
    policy_to_json(policy).to_string()
}

fn read_policy(row: &Row<'_>) -> rusqlite::Result<Option<RetryPolicy>> {
    let Some(text) = row.get::<_, Option<String>>("retry_policy")? else { return Ok(None) };
    let value = serde_json::from_str(&text).map_err(|_| corrupt("a retry policy"))?;
    policy_from_json(&value).map(Some).map_err(|_| corrupt("a retry policy"))
}
