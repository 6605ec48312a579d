//! Files that are missing, or are moved away while they are used, and files that a crash left too many.

use crate::files::{DAY, LINE, START, accept, event, open, segments, try_open};
use postrider_core::id::AccountId;
use postrider_sqlite::SqliteStore;
use postrider_store::{Batch, Store, StoreError};
use std::pin::Pin;
use std::sync::Arc;
use tempfile::TempDir;

const DATABASES: [&str; 2] = ["live.db", "segments/00000001.db"];
const LOGS: [&str; 2] = ["live.db-wal", "segments/00000001.db-wal"];

/// A store that was stopped, with an event that is owed in each of two segments.
async fn stopped_with_two_segments() -> TempDir {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    for day in 0..2 {
        store.maintain(START.after(DAY * day)).await.unwrap();
        accept(&store, event(u64::from(day) * 10 + 10, START.after(DAY * day))).await;
    }
    assert_eq!(segments(directory.path()).len(), 2);
    store.close().await.unwrap();
    directory
}

#[tokio::test]
async fn a_file_that_is_missing_is_named_and_not_made_anew() {
    for name in ["segments/00000001.db", "segments/00000002.db", "live.db"] {
        let directory = stopped_with_two_segments().await;
        let file = directory.path().join(name);
        let elsewhere = directory.path().join("elsewhere");
        std::fs::rename(&file, &elsewhere).unwrap();
        let Err(refused) = try_open(directory.path()) else { panic!("opened without {name}") };
        let sentence = refused.to_string();
        assert!(sentence.contains(name) && sentence.contains("is missing"), "{sentence}");
        assert!(!file.exists(), "{name} was made anew");
        std::fs::rename(&elsewhere, &file).unwrap();
        assert_eq!(open(directory.path()).load(LINE, 9).await.unwrap().tickets.len(), 2);
    }
}

#[tokio::test]
async fn segments_that_an_empty_list_does_not_know_are_refused() {
    for kept in [1, 2] {
        let directory = stopped_with_two_segments().await;
        segments(directory.path())[kept..].iter().for_each(|file| std::fs::remove_file(file).unwrap());
        std::fs::write(directory.path().join("live.db"), []).unwrap();
        let Err(refused) = try_open(directory.path()) else { panic!("{kept} segments were forgotten") };
        assert!(refused.to_string().contains("live.db is missing or empty"), "{refused}");
    }
}

#[tokio::test]
async fn a_first_start_that_was_cut_off_is_gone_on_with() {
    let directory = TempDir::new().unwrap();
    drop(open(directory.path()));
    let live = rusqlite::Connection::open(directory.path().join("live.db")).unwrap();
    // Its file is made before it is listed.
    live.execute("DELETE FROM segments", []).unwrap();
    drop(live);
    accept(&open(directory.path()), event(10, START)).await;
}

#[tokio::test]
async fn what_a_crash_left_of_a_dropped_segment_goes_at_the_next_start() {
    let directory = stopped_with_two_segments().await;
    let live = rusqlite::Connection::open(directory.path().join("live.db")).unwrap();
    live.execute("DELETE FROM segments WHERE number = 1", []).unwrap();
    drop(live);
    let [first, second] = segments(directory.path()).try_into().unwrap();
    let (log, third) = (first.with_extension("db-wal"), directory.path().join("segments/00000003.db"));
    std::fs::write(&log, []).unwrap();
    std::fs::copy(&second, &third).unwrap();
    let store = open(directory.path());
    assert!(!first.exists() && !log.exists(), "it is listed no more");
    assert!(second.exists() && third.exists(), "one was listed, and one was being begun");
    assert_eq!(store.load(LINE, 9).await.unwrap().tickets.len(), 1);
}

#[tokio::test]
async fn nothing_is_accepted_into_a_file_that_was_moved_or_replaced() {
    for file in DATABASES.into_iter().chain(LOGS) {
        let directory = TempDir::new().unwrap();
        let store = open(directory.path());
        accept(&store, event(1, START)).await;
        let (path, aside) = (directory.path().join(file), directory.path().join("aside"));
        std::fs::rename(&path, &aside).unwrap();
        std::fs::copy(&aside, &path).unwrap();
        for id in [100, 200] {
            let batch = Batch { events: vec![event(id, START)], ..Batch::default() };
            let refused = store.commit(Arc::new(batch)).await;
            let Err(StoreError::Broken(cause)) = refused else { panic!("{file}: {refused:?}") };
            assert!(cause.contains(file), "{cause}");
        }
    }
}

/// What is answered without an event, too, must be found by the next start.
#[tokio::test]
async fn no_write_of_any_kind_is_answered_once_a_file_was_moved() {
    type Written<'s> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 's>>;
    type Write = fn(&SqliteStore) -> Written<'_>;
    let writes: [(&str, Write); 5] = [
        ("configure", |store| store.configure(Vec::new())),
        ("keep_circuits", |store| store.keep_circuits(Vec::new())),
        ("release", |store| Box::pin(async { store.release(LINE.destination).await.map(drop) })),
        ("bury", |store| Box::pin(async { store.bury(LINE.destination, START, 9).await.map(drop) })),
        ("revive", |store| {
            Box::pin(async { store.revive(AccountId::from_u64(1), Vec::new(), START).await.map(drop) })
        }),
    ];
    for (name, write) in writes {
        for file in DATABASES.into_iter().chain(LOGS) {
            let directory = TempDir::new().unwrap();
            let store = open(directory.path());
            accept(&store, event(1, START)).await;
            write(&store).await.unwrap();
            std::fs::rename(directory.path().join(file), directory.path().join("aside")).unwrap();
            let Err(StoreError::Broken(cause)) = write(&store).await else { panic!("{name} without {file}") };
            assert!(cause.contains(file), "{cause}");
        }
    }
}
