//! The audit log: rows that are added and, in the end, dropped.

use crate::database::Database;
use crate::error::QueryError;
use crate::values::{column, int, read_time, text, time, uint};
use deadpool_postgres::{GenericClient, Transaction};
use postrider_core::id::{AccountId, ApiKeyId, AuditId};
use postrider_core::limits::AUDIT_RECORDS_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{AuditPage, AuditQuery, AuditRecord, Author, Way};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

const COLUMNS: &str = "id, account_id, at, way, key_id, key_name, call, noun, object, before, after";

/// With the changes that they tell of; many in one statement, since a move brings all of them.
pub(crate) async fn add(change: &Transaction<'_>, records: &[&AuditRecord]) -> Result<(), QueryError> {
    fn each<'r, T>(records: &[&'r AuditRecord], column: impl Fn(&'r AuditRecord) -> T) -> Vec<T> {
        records.iter().map(|record| column(record)).collect()
    }
    let put = format!(
        "INSERT INTO audit ({COLUMNS}) SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[], $5::int8[],
         $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])"
    );
    let columns: [&(dyn ToSql + Sync); 11] = [
        &each(records, |record| int(record.id.as_u64())),
        &each(records, |record| int(record.account.as_u64())),
        &each(records, |record| time(record.at)),
        &each(records, |record| record.author.way.as_str()),
        &each(records, |record| record.author.key.map(|key| int(key.as_u64()))),
        &each(records, |record| record.author.key_name.as_deref().map(text)),
        &each(records, |record| record.call.as_str()),
        &each(records, |record| record.noun.as_str()),
        &each(records, |record| record.object.as_deref().map(text)),
        &each(records, |record| record.before.as_deref().map(text)),
        &each(records, |record| record.after.as_deref().map(text)),
    ];
    change.execute(&put, &columns).await?;
    Ok(())
}

/// Once for each account that a change is of, so that a large one costs no more than a small one.
pub(crate) async fn make_room(change: &Transaction<'_>, account: AccountId) -> Result<(), QueryError> {
    let forget = "DELETE FROM audit WHERE account_id = $1 AND id <=
         (SELECT id FROM audit WHERE account_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
    change.execute(forget, &[&int(account.as_u64()), &int(AUDIT_RECORDS_MAX as u64)]).await?;
    Ok(())
}

/// One that tells of no change of the configuration.
pub(crate) async fn put(database: &Database, record: &AuditRecord) -> Result<(), QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    add(&change, &[record]).await?;
    make_room(&change, record.account).await?;
    Ok(change.commit().await?)
}

pub(crate) async fn drop_before(client: &impl GenericClient, then: Timestamp) -> Result<(), QueryError> {
    client.execute("DELETE FROM audit WHERE at < $1", &[&time(then)]).await?;
    Ok(())
}

pub(crate) async fn list(client: &impl GenericClient, query: &AuditQuery) -> Result<AuditPage, QueryError> {
    // The server must be told the types of what may be NULL.
    let whose = if query.account.is_some() { "account_id = $1" } else { "$1::int8 IS NULL" };
    let select = format!(
        "SELECT {COLUMNS} FROM audit WHERE {whose} AND ($2::text IS NULL OR noun = $2)
         AND ($3::text IS NULL OR object = $3) AND ($4::int8 IS NULL OR key_id = $4)
         AND ($5::int8 IS NULL OR at >= $5) AND ($6::int8 IS NULL OR at < $6) AND ($7::int8 IS NULL OR id < $7)
         ORDER BY id DESC LIMIT $8"
    );
    let account = query.account.map(|account| int(account.as_u64()));
    let (key, after) = (query.key.map(|key| int(key.as_u64())), query.after.map(|id| int(id.as_u64())));
    let (since, until, limit) = (query.since.map(time), query.until.map(time), int(query.limit as u64 + 1));
    let (noun, object) = (query.noun.as_deref().map(text), query.object.as_deref().map(text));
    let asked: [&(dyn ToSql + Sync); 8] = [&account, &noun, &object, &key, &since, &until, &after, &limit];
    let rows = client.query(&select, &asked).await?;
    let items = rows.iter().map(read).collect::<Result<_, _>>()?;
    Ok(AuditPage::cut(items, query.limit))
}

pub(crate) async fn read_all(client: &impl GenericClient) -> Result<Vec<AuditRecord>, QueryError> {
    let rows = client.query(&format!("SELECT {COLUMNS} FROM audit ORDER BY id"), &[]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<AuditRecord, QueryError> {
    let (way, key): (&str, Option<i64>) = (column(row, 3)?, column(row, 4)?);
    Ok(AuditRecord {
        id: AuditId::from_u64(uint(column(row, 0)?)),
        account: AccountId::from_u64(uint(column(row, 1)?)),
        at: read_time(column(row, 2)?),
        author: Author {
            way: Way::from_word(way).ok_or(QueryError::Corrupt("how somebody came who made a change"))?,
            key: key.map(|key| ApiKeyId::from_u64(uint(key))),
            key_name: column(row, 5)?,
        },
        call: column(row, 6)?,
        noun: column(row, 7)?,
        object: column(row, 8)?,
        before: column(row, 9)?,
        after: column(row, 10)?,
    })
}
