//! Configuration in `live.db`: a document a row, written whole, read whole at start.

use crate::audit_log;
use crate::checksum;
use crate::circuits;
use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, uint};
use crate::sessions;
use postrider_core::breaker::CircuitRecord;
use postrider_core::id::DestinationId;
use postrider_store::codec::{Document, Edit, Kind, accounts_noted, edits};
use postrider_store::{Change, Vault};
use rusqlite::{Connection, Transaction, params};

pub(crate) fn write(live: &mut Connection, changes: &[Change], vault: &Vault) -> rusqlite::Result<()> {
    let transaction = live.transaction()?;
    for edit in changes.iter().flat_map(|change| edits(change, vault)) {
        apply(&transaction, &edit)?;
    }
    for account in accounts_noted(changes) {
        audit_log::make_room(&transaction, account)?;
    }
    transaction.commit()
}

fn apply(into: &Transaction<'_>, edit: &Edit) -> rusqlite::Result<()> {
    match edit {
        Edit::Put(Document { kind, id, text }) => {
            let row = params![kind.as_str(), int(*id), text, checksum::of_document(text)];
            into.execute("INSERT OR REPLACE INTO configuration VALUES (?1, ?2, ?3, ?4)", row)?;
            into.execute("UPDATE meta SET last_id = max(last_id, ?1)", [int(*id)])?;
        }
        Edit::Delete(kind, id) => {
            let row = params![kind.as_str(), int(*id)];
            into.execute("DELETE FROM configuration WHERE kind = ?1 AND id = ?2", row)?;
            into.execute("DELETE FROM circuits WHERE destination_id = ?1", [int(*id)])?;
        }
        Edit::DeleteRoutes(field, text) => {
            let delete = "DELETE FROM configuration WHERE kind = ?1 AND document ->> ?2 = ?3";
            into.execute(delete, params![Kind::Route.as_str(), field, text])?;
        }
        Edit::EndSessions(key) => sessions::end_of_key(into, *key)?,
        Edit::Record(record) => audit_log::add(into, record)?,
    }
    Ok(())
}

/// The rows of all that is configured.
pub(crate) struct Rows {
    pub(crate) documents: Vec<Document>,
    pub(crate) circuits: Vec<(DestinationId, CircuitRecord)>,
    pub(crate) id_floor: u64,
}

pub(crate) fn read(reader: &mut Reader) -> rusqlite::Result<Rows> {
    let id_floor = id_floor(reader)?;
    let live = reader.live();
    Ok(Rows { documents: documents(live)?, circuits: circuits::read(live)?, id_floor })
}

pub(crate) fn documents(live: &Connection) -> rusqlite::Result<Vec<Document>> {
    let mut select = live.prepare("SELECT kind, id, document, checksum FROM configuration ORDER BY id")?;
    let rows = select.query_map([], |row| {
        let kind: String = row.get(0)?;
        let kind = Kind::from_word(&kind).ok_or_else(|| corrupt("a kind of configuration"))?;
        let document = Document { kind, id: uint(row.get(1)?), text: row.get(2)? };
        match row.get::<_, i64>(3)? == checksum::of_document(&document.text) {
            true => Ok(document),
            // A letter of an address may have changed: what was configured is not known any more.
            false => {
                Err(corrupt(&format!("the {} with the number {} in live.db", kind.as_str(), document.id)))
            }
        }
    })?;
    rows.collect()
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
