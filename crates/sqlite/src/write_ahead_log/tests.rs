//! Logs that SQLite wrote, with and without a flipped bit.

use super::*;
use rusqlite::Connection;
use std::path::PathBuf;
use tempfile::TempDir;

const ROWS: usize = 20;
const PAGE_BYTES: usize = 4096;
const FRAME_BYTES: usize = PAGE_BYTES + 24;

/// A database of which nothing was moved out of its log, as a killed process leaves it.
fn left_behind() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let (live, left) = (directory.path().join("live.db"), directory.path().join("left.db"));
    let connection = Connection::open(&live).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    for row in 0..ROWS {
        connection.execute("INSERT INTO t VALUES (?1)", [format!("{row} {}", "x".repeat(3000))]).unwrap();
    }
    for end in ["db", "db-wal", "db-shm"] {
        std::fs::copy(live.with_extension(end), left.with_extension(end)).unwrap();
    }
    (directory, left)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 4;
    std::fs::write(path, bytes).unwrap();
}

/// What is said of a log with this bit flipped.
fn check_flipped(at: impl Fn(usize) -> usize, forget_index: fn(&Path)) -> Result<(), String> {
    let (_directory, database) = left_behind();
    let log = log_of(&database);
    let bytes = std::fs::metadata(&log).unwrap().len() as usize;
    forget_index(&database);
    flip(&log, at(bytes));
    check(&database, Commits::Synced, Since::SameStart).map_err(|error| error.to_string())
}

fn keep(_: &Path) {}

fn forget(database: &Path) {
    std::fs::remove_file(database.with_extension("db-shm")).unwrap();
}

#[test]
fn a_log_as_it_was_left_is_whole() {
    for forget_index in [keep, forget] {
        let (_directory, database) = left_behind();
        forget_index(&database);
        check(&database, Commits::Synced, Since::SameStart).unwrap();
        check(&database, Commits::SomeUnsynced, Since::SameStart).unwrap();
        cut_tail(&database).unwrap();
        let rows: i64 = Connection::open(&database)
            .unwrap()
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, ROWS as i64, "nothing was cut off that counts");
    }
}

#[test]
fn with_its_index_a_bit_that_flipped_anywhere_is_found() {
    let places: [fn(usize) -> usize; 5] =
        [|_| 3, |_| 20, |_| 32 + 100, |bytes| bytes / 2, |bytes| bytes - PAGE_BYTES / 2];
    for at in places {
        let said = check_flipped(at, keep).unwrap_err();
        assert!(said.contains("left.db-wal"), "{said}");
    }
}

#[test]
fn without_its_index_a_bit_in_the_last_commit_looks_like_a_torn_tail_and_no_other_does() {
    check_flipped(|bytes| bytes - PAGE_BYTES / 2, forget).unwrap();
    check_flipped(|bytes| bytes - 4 * FRAME_BYTES, forget).unwrap_err();
    check_flipped(|_| 32 + 100, forget).unwrap_err();
    check_flipped(|_| 20, forget).unwrap_err();
}

#[test]
fn a_log_that_is_gone_is_missed_unless_all_was_moved() {
    let (_directory, database) = left_behind();
    std::fs::remove_file(log_of(&database)).unwrap();
    check(&database, Commits::Synced, Since::SameStart).unwrap_err();
    let moved = Index { salts: [0; 8], frames: 7, moved: 7 };
    assert_eq!(judge(Some(moved), &Log::Empty, Commits::Synced, Since::SameStart), None);
}

#[test]
fn an_empty_log_is_believed_after_a_new_start_whatever_its_index_says() {
    let (_directory, database) = left_behind();
    // Cut when all was moved, and the index of before is what a loss of power left.
    std::fs::write(log_of(&database), []).unwrap();
    check(&database, Commits::Synced, Since::SameStart).unwrap_err();
    check(&database, Commits::Synced, Since::NewStart).unwrap();
}

#[test]
fn a_torn_tail_is_cut_off_and_nothing_else() {
    let (_directory, database) = left_behind();
    forget(&database);
    let log = log_of(&database);
    let bytes = std::fs::metadata(&log).unwrap().len();
    flip(&log, bytes as usize - PAGE_BYTES / 2);
    cut_tail(&database).unwrap();
    assert!(std::fs::metadata(&log).unwrap().len() < bytes);
    check(&database, Commits::Synced, Since::SameStart).unwrap();
    let cut = std::fs::metadata(&log).unwrap().len();
    cut_tail(&database).unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), cut, "what is left is whole");
}
