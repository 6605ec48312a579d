//! The audit log in `live.db`: rows that are added and, in the end, dropped.

use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, time, uint};
use postrider_core::id::{AccountId, ApiKeyId, AuditId};
use postrider_core::limits::AUDIT_RECORDS_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{AuditPage, AuditQuery, AuditRecord, Author, Way};
use rusqlite::{Connection, Row, Transaction, params};

const COLUMNS: &str = "id, account_id, at, way, key_id, key_name, call, noun, object, before, after";

/// With the changes that it tells of.
pub(crate) fn add(change: &Transaction<'_>, record: &AuditRecord) -> rusqlite::Result<()> {
    let (id, author) = (int(record.id.as_u64()), &record.author);
    change
        .prepare_cached("INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
        .execute(params![
            id,
            int(record.account.as_u64()),
            time(record.at),
            author.way.as_str(),
            author.key.map(|key| int(key.as_u64())),
            author.key_name,
            record.call,
            record.noun,
            record.object,
            record.before,
            record.after,
        ])?;
    change.prepare_cached("UPDATE meta SET last_id = max(last_id, ?1)")?.execute([id])?;
    Ok(())
}

/// The oldest of an account, as many as there are over the bound: those are all that it reads.
const MAKE_ROOM: &str =
    "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE account_id = ?1 ORDER BY id
     LIMIT max(0, coalesce((SELECT records FROM audit_counts WHERE account_id = ?1), 0) - ?2))";

/// Once for each account that a change is of, so that a large one costs no more than a small one.
pub(crate) fn make_room(change: &Transaction<'_>, account: AccountId) -> rusqlite::Result<()> {
    let bound = [int(account.as_u64()), int(AUDIT_RECORDS_MAX as u64)];
    change.prepare_cached(MAKE_ROOM)?.execute(bound).map(drop)
}

/// One that tells of no change of the configuration.
pub(crate) fn put(live: &mut Connection, record: &AuditRecord) -> rusqlite::Result<()> {
    let change = live.transaction()?;
    add(&change, record)?;
    make_room(&change, record.account)?;
    change.commit()
}

pub(crate) fn drop_before(live: &Connection, then: Timestamp) -> rusqlite::Result<()> {
    live.execute("DELETE FROM audit WHERE at < ?1", [time(then)]).map(drop)
}

pub(crate) fn list(reader: &mut Reader, query: &AuditQuery) -> rusqlite::Result<AuditPage> {
    let whose = if query.account.is_some() { "account_id = ?1" } else { "?1 IS NULL" };
    let select = format!(
        "SELECT {COLUMNS} FROM audit WHERE {whose} AND (?2 IS NULL OR noun = ?2)
         AND (?3 IS NULL OR object = ?3) AND (?4 IS NULL OR key_id = ?4) AND (?5 IS NULL OR at >= ?5)
         AND (?6 IS NULL OR at < ?6) AND (?7 IS NULL OR id < ?7) ORDER BY id DESC LIMIT ?8"
    );
    let mut select = reader.live().prepare_cached(&select)?;
    let asked = params![
        query.account.map(|account| int(account.as_u64())),
        query.noun,
        query.object,
        query.key.map(|key| int(key.as_u64())),
        query.since.map(time),
        query.until.map(time),
        query.after.map(|after| int(after.as_u64())),
        int(query.limit as u64 + 1),
    ];
    let rows = select.query_map(asked, read)?;
    Ok(AuditPage::cut(rows.collect::<rusqlite::Result<_>>()?, query.limit))
}

pub(crate) fn read_all(live: &Connection) -> rusqlite::Result<Vec<AuditRecord>> {
    let mut select = live.prepare(&format!("SELECT {COLUMNS} FROM audit ORDER BY id"))?;
    let rows = select.query_map([], read)?;
    rows.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AuditRecord> {
    let (way, key): (String, Option<i64>) = (row.get(3)?, row.get(4)?);
    Ok(AuditRecord {
        id: AuditId::from_u64(uint(row.get(0)?)),
        account: AccountId::from_u64(uint(row.get(1)?)),
        at: read_time(row.get(2)?),
        author: Author {
            way: Way::from_word(&way).ok_or_else(|| corrupt("how somebody came who made a change"))?,
            key: key.map(|key| ApiKeyId::from_u64(uint(key))),
            key_name: row.get(5)?,
        },
        call: row.get(6)?,
        noun: row.get(7)?,
        object: row.get(8)?,
        before: row.get(9)?,
        after: row.get(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;
    use std::path::Path;

    const ACCOUNT: AccountId = AccountId::from_u64(1);
    const START: Timestamp = Timestamp::from_unix_ms(0);

    fn record(id: u64) -> AuditRecord {
        AuditRecord {
            id: AuditId::from_u64(id),
            account: ACCOUNT,
            at: START,
            author: Author { way: Way::Machine, key: None, key_name: None },
            call: "POST /v1/accounts".into(),
            noun: "account".into(),
            object: None,
            before: None,
            after: None,
        }
    }

    fn log() -> Connection {
        let mut live = Connection::open_in_memory().unwrap();
        crate::open::migrate_live(&mut live, Path::new("live.db")).unwrap();
        live
    }

    fn add_all(live: &mut Connection, ids: impl Iterator<Item = u64>) {
        let change = live.transaction().unwrap();
        ids.for_each(|id| add(&change, &record(id)).unwrap());
        change.commit().unwrap();
    }

    /// What the database does to make room, in steps of its machine.
    fn steps(live: &Connection) -> i32 {
        let mut make_room = live.prepare(MAKE_ROOM).unwrap();
        make_room.execute([int(ACCOUNT.as_u64()), int(AUDIT_RECORDS_MAX as u64)]).unwrap();
        make_room.get_status(StatementStatus::VmStep)
    }

    #[test]
    fn room_is_made_without_a_walk_over_what_stays() {
        let (mut live, full) = (log(), AUDIT_RECORDS_MAX as u64);
        add_all(&mut live, 1..=full + 1);
        let taken = steps(&live);
        assert_eq!(read_all(&live).unwrap().iter().map(|record| record.id.as_u64()).min(), Some(2));
        assert!(taken < 500, "{taken} steps for one record over the bound");
        assert!(steps(&live) < 500, "{} steps at the bound", steps(&live));
    }

    #[test]
    fn records_are_counted_however_they_come_and_go() {
        let count = |live: &Connection| -> Option<i64> {
            live.query_row("SELECT sum(records) FROM audit_counts", [], |row| row.get(0)).unwrap()
        };
        let mut live = log();
        put(&mut live, &record(1)).unwrap();
        add_all(&mut live, 2..=10);
        assert_eq!(count(&live), Some(10));
        let undone = live.transaction().unwrap();
        add(&undone, &record(11)).unwrap();
        drop(undone);
        assert_eq!(count(&live), Some(10));
        drop_before(&live, Timestamp::from_unix_ms(1)).unwrap();
        assert_eq!(count(&live), None);
    }
}
