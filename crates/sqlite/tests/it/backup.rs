//! A backup beside a gateway that goes on.

use crate::files::{DAY, START, accept, event, open};
use postrider_sqlite::back_up;
use postrider_store::Store;
use std::time::Duration;
use tempfile::TempDir;

#[tokio::test]
async fn the_open_segment_is_let_go_once_it_is_copied() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = open(here.path());
    for (id, at) in [(10, START), (20, START.after(DAY))] {
        store.maintain(at).await.unwrap();
        accept(&store, event(id, at)).await;
    }
    let newest = rusqlite::Connection::open(here.path().join("segments/00000002.db")).unwrap();
    newest.busy_timeout(Duration::ZERO).unwrap();
    let mut was_held = Vec::new();
    let copied = back_up(here.path(), &there.path().join("copy"), |_, _| {
        // A log that somebody reads cannot be emptied.
        let held = newest.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        was_held.push(held.unwrap());
    });
    assert_eq!(copied.unwrap().files, 3);
    assert_eq!(was_held, [true, false, false]);
}
