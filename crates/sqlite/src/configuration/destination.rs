//! Destinations as rows: one column for each setting, so that SQL can ask for them.

use super::{policy_text, read_policy};
use crate::error::corrupt;
use crate::rows::{int, read_time, time, uint};
use postrider_core::destination::{
    CircuitPolicy, MaxConcurrency, OnDeadLetter, Ordering, RateLimit, TimeoutSeconds,
};
use postrider_core::id::{AccountId, DestinationId};
use postrider_store::{Destination, DestinationAuth, Headers};
use rusqlite::{Row, Transaction, params};

pub(super) fn put_destination(into: &Transaction<'_>, destination: &Destination) -> rusqlite::Result<u64> {
    let (auth_header, auth_value) = match &destination.auth {
        None => (None, None),
        Some(DestinationAuth::Bearer { token }) => (None, Some(token)),
        Some(DestinationAuth::Header { header, value }) => (Some(header), Some(value)),
    };
    let (rate, circuit) = (destination.rate_limit, destination.circuit);
    into.execute(
        "INSERT OR REPLACE INTO destinations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
            ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)",
        params![
            int(destination.id.as_u64()),
            int(destination.account.as_u64()),
            destination.name,
            destination.url,
            destination.max_concurrency.get(),
            destination.timeout.get(),
            destination.retry_policy.as_ref().map(policy_text),
            rate.map(RateLimit::per_second),
            rate.map(RateLimit::burst),
            destination.ordering.as_str(),
            destination.ordering_key,
            destination.on_dead_letter.as_str(),
            destination.adaptive,
            circuit.threshold(),
            int(circuit.cooldown().as_secs()),
            int(circuit.cooldown_max().as_secs()),
            destination.paused,
            destination.active,
            destination.disabled_reason,
            auth_header,
            auth_value,
            destination.custom_headers.as_text(),
            destination.signing_secret,
            time(destination.created_at)
        ],
    )?;
    Ok(destination.id.as_u64())
}

pub(super) fn read_destination(row: &Row<'_>) -> rusqlite::Result<Destination> {
    let limit = |column| -> rusqlite::Result<u64> { row.get::<_, i64>(column).map(uint) };
    Ok(Destination {
        id: DestinationId::from_u64(uint(row.get("id")?)),
        account: AccountId::from_u64(uint(row.get("account_id")?)),
        name: row.get("name")?,
        url: row.get("url")?,
        max_concurrency: MaxConcurrency::new(limit("max_concurrency")?)
            .map_err(|_| corrupt("max_concurrency"))?,
        timeout: TimeoutSeconds::new(limit("timeout_seconds")?).map_err(|_| corrupt("timeout_seconds"))?,
        retry_policy: read_policy(row)?,
        rate_limit: read_rate_limit(row)?,
        ordering: Ordering::from_word(&word(row, "ordering")?).ok_or_else(|| corrupt("ordering"))?,
        ordering_key: row.get("ordering_key")?,
        on_dead_letter: OnDeadLetter::from_word(&word(row, "on_dead_letter")?)
            .ok_or_else(|| corrupt("on_dead_letter"))?,
        adaptive: row.get("adaptive")?,
        circuit: CircuitPolicy::new(
            Some(limit("circuit_threshold")?),
            Some(limit("circuit_cooldown_seconds")?),
            Some(limit("circuit_cooldown_max_seconds")?),
        )
        .map_err(|_| corrupt("a circuit"))?,
        paused: row.get("paused")?,
        active: row.get("active")?,
        disabled_reason: row.get("disabled_reason")?,
        auth: read_auth(row)?,
        custom_headers: Headers::from_text(row.get("custom_headers")?),
        signing_secret: row.get("signing_secret")?,
        created_at: read_time(row.get("created_at")?),
    })
}

fn read_auth(row: &Row<'_>) -> rusqlite::Result<Option<DestinationAuth>> {
    Ok(match (row.get("auth_header")?, row.get("auth_value")?) {
        (_, None) => None,
        (None, Some(token)) => Some(DestinationAuth::Bearer { token }),
        (Some(header), Some(value)) => Some(DestinationAuth::Header { header, value }),
    })
}

fn read_rate_limit(row: &Row<'_>) -> rusqlite::Result<Option<RateLimit>> {
    let Some(per_second) = row.get("rate_per_second")? else { return Ok(None) };
    let burst: Option<i64> = row.get("rate_burst")?;
    RateLimit::new(per_second, burst.map(uint)).map(Some).map_err(|_| corrupt("a rate limit"))
}

fn word(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    row.get(column)
}
