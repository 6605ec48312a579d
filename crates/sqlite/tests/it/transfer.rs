//! What is moved to or from a data directory is held against its checksums.

use crate::files::{START, accept, event, open};
use postrider_core::id::EventId;
use postrider_sqlite::{DataDirectory, SqliteTransfer};
use postrider_store::transfer::{Begun, Table, Transfer as _};
use postrider_store::{Store, StoreError, Vault};
use tempfile::TempDir;

fn transfer(directory: &TempDir) -> SqliteTransfer {
    let taken = DataDirectory::take(directory.path()).unwrap();
    SqliteTransfer::open(taken, Vault::new([7; 32], &[])).unwrap()
}

fn write_over(directory: &TempDir, event: u64) {
    let segment = rusqlite::Connection::open(directory.path().join("segments/00000001.db")).unwrap();
    let sql = format!("UPDATE events SET body = x'00' WHERE id = {event}");
    assert_eq!(segment.execute(&sql, []).unwrap(), 1);
}

/// Two events, in a store that nobody uses.
async fn two_events() -> TempDir {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    for id in [10, 20] {
        accept(&store, event(id, START)).await;
    }
    store.close().await.unwrap();
    directory
}

#[tokio::test]
async fn a_damaged_event_is_not_moved_and_is_named() {
    let directory = two_events().await;
    write_over(&directory, 20);
    let Err(StoreError::Damaged(said)) = transfer(&directory).read(Table::Events, None).await else {
        panic!("other bytes than were accepted were read")
    };
    let damaged = EventId::from_u64(20);
    assert_eq!(said, format!("the bytes of {damaged} are not those that were accepted"));
}

#[tokio::test]
async fn an_event_that_was_moved_is_checked_as_one_that_was_accepted() {
    let (here, there) = (two_events().await, TempDir::new().unwrap());
    {
        let (mut source, mut target) = (transfer(&here), transfer(&there));
        assert_eq!(target.begin("there").await.unwrap(), Begun::Anew);
        let chunk = source.read(Table::Events, None).await.unwrap();
        target.write(Table::Events, &chunk).await.unwrap();
        assert_eq!(target.read(Table::Events, None).await.unwrap().rows, chunk.rows);
        target.finish().await.unwrap();
    }
    write_over(&there, 10);
    let store = open(there.path());
    assert!(store.content(EventId::from_u64(20)).await.unwrap().is_some());
    let damaged = store.content(EventId::from_u64(10)).await;
    assert!(matches!(damaged, Err(StoreError::Damaged(_))), "{damaged:?}");
}
