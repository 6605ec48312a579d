//! What only a store on disk can show: its lock, its segments, its crash between two commits.

use bytes::Bytes;
use postrider_core::delivery::{Lane, Line, Priority};
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::{DeathReason, Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_sqlite::{DataDirectory, OpenError, SqliteOptions, SqliteStore};
use postrider_store::conformance::audit::records_past_their_retention_are_dropped;
use postrider_store::{
    Acceptance, Attempt, Batch, DeadLetter, DeadLetterFilter, DeadLetterOrder, DeadLetterQuery, EventContent,
    Finished, Idempotency, NewDelivery, NewEvent, Origin, Revival, SendWindow, Store, Timing, Vault,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const START: Timestamp = Timestamp::from_unix_ms(1_800_000_000_000);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);
pub(crate) const LINE: Line =
    Line { destination: DestinationId::from_u64(9), priority: Priority::Normal, lane: Lane::Fresh };

pub(crate) fn open(directory: &Path) -> SqliteStore {
    try_open(directory).unwrap()
}

pub(crate) fn try_open(directory: &Path) -> Result<SqliteStore, OpenError> {
    let vault = Vault::new([7; 32], &[]);
    SqliteStore::open(DataDirectory::take(directory)?, vault, SqliteOptions::default())
}

pub(crate) fn event(id: u64, received_at: Timestamp) -> NewEvent {
    NewEvent {
        id: EventId::from_u64(id),
        external_id: None,
        content: Arc::new(EventContent {
            account: AccountId::from_u64(1),
            origin: Origin::Source(SourceId::from_u64(2)),
            headers: Default::default(),
            body: Bytes::from(format!("event {id}")),
            event_type: None,
            received_at,
            window: SendWindow::default(),
            replay_of: None,
        }),
        idempotency: Some(Idempotency { key_hash: [id as u8; 16], body_hash: [1; 16] }),
        deliveries: vec![NewDelivery {
            id: DeliveryId::from_u64(id + 1),
            destination: LINE.destination,
            route: RouteId::from_u64(3),
            priority: LINE.priority,
            order: None,
        }],
    }
}

pub(crate) async fn accept(store: &SqliteStore, event: NewEvent) -> Acceptance {
    let batch = Arc::new(Batch { events: vec![event], ..Batch::default() });
    store.commit(batch).await.unwrap().events[0]
}

pub(crate) async fn deliver(store: &SqliteStore, id: u64, at: Timestamp) {
    end(store, id, at, Next::Delivered).await;
}

async fn end(store: &SqliteStore, id: u64, at: Timestamp, next: Next) {
    let page = store.load(LINE, 1000).await.unwrap();
    let ticket = *page.tickets.iter().find(|ticket| ticket.event == EventId::from_u64(id)).unwrap();
    let attempt = Attempt {
        id: AttemptId::from_u64(id + 2),
        delivery: ticket.delivery,
        event: ticket.event,
        destination: LINE.destination,
        number: 1,
        started_at: at,
        outcome: Outcome::Success,
        status: Some(200),
        request_headers: Default::default(),
        response_headers: Default::default(),
        response_body: Bytes::new(),
        problem: None,
        timing: Timing::default(),
        next,
    };
    let finished = Finished { account: AccountId::from_u64(1), ticket, attempt, blocks_line: false };
    store.commit(Arc::new(Batch { finished: vec![finished], ..Batch::default() })).await.unwrap();
}

pub(crate) fn segments(directory: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(directory.join("segments")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "db")).collect();
    files.sort();
    files
}

#[test]
fn files_of_another_version_are_refused_in_words() {
    for file in ["live.db", "segments/00000001.db"] {
        let home = TempDir::new().unwrap();
        drop(open(home.path()));
        let written = rusqlite::Connection::open(home.path().join(file)).unwrap();
        written.execute("UPDATE refinery_schema_history SET checksum = '1'", []).unwrap();
        drop(written);
        let Err(refused) = try_open(home.path()) else { panic!("{file} was opened") };
        let sentence = refused.to_string();
        assert!(sentence.contains(file) && sentence.contains("written by another version"), "{sentence}");
    }
}

#[tokio::test]
async fn a_second_store_on_the_same_directory_is_refused() {
    let directory = TempDir::new().unwrap();
    let first = open(directory.path());
    let second = try_open(directory.path());
    assert!(matches!(second, Err(OpenError::InUse(_))));
    drop(first);
    open(directory.path());
}

#[tokio::test]
async fn a_second_store_is_refused_also_when_the_lock_file_is_gone() {
    let directory = TempDir::new().unwrap();
    let first = open(directory.path());
    std::fs::remove_file(directory.path().join("lock")).unwrap();
    assert!(matches!(try_open(directory.path()), Err(OpenError::InUse(_))));
    drop(first);
    open(directory.path());
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_named() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("a-file");
    std::fs::write(&file, "in the way").unwrap();
    let Err(refused) = try_open(&file) else { panic!("a file is no directory") };
    assert!(refused.to_string().contains("a-file"), "{refused}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let directory = TempDir::new().unwrap();
    drop(open(directory.path()));
    let live = directory.path().join("live.db");
    std::fs::remove_file(directory.path().join("live.db-wal")).ok();
    std::fs::write(&live, vec![b'x'; 8192]).unwrap();
    let refused = try_open(directory.path());
    assert!(matches!(refused, Err(OpenError::Database { .. })));
    assert_eq!(std::fs::read(&live).unwrap(), vec![b'x'; 8192]);
}

#[tokio::test]
async fn what_is_owed_in_several_segments_is_one_line_in_order() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    for day in 0..3 {
        let now = START.after(DAY * day);
        store.maintain(now).await.unwrap();
        for event_of_day in 0..5 {
            accept(&store, event(u64::from(day) * 100 + event_of_day * 10 + 10, now)).await;
        }
    }
    assert_eq!(segments(directory.path()).len(), 3);
    let all = store.load(LINE, 100).await.unwrap();
    assert!(all.end && all.tickets.len() == 15 && all.tickets.is_sorted_by_key(|ticket| ticket.place()));
    let some = store.load(LINE, 7).await.unwrap();
    assert_eq!((&some.tickets[..], some.end), (&all.tickets[..7], false));
    assert_eq!(store.lines().await.unwrap()[0].rows, 15);
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.load(LINE, 100).await.unwrap(), all, "the next run owes the same");
}

#[tokio::test]
async fn history_goes_in_whole_segments_once_it_is_old_and_no_longer_owed() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    accept(&store, event(10, START)).await;
    accept(&store, event(20, START)).await;
    deliver(&store, 10, START).await;
    store.maintain(START.after(DAY)).await.unwrap();
    accept(&store, event(30, START.after(DAY))).await;
    deliver(&store, 30, START.after(DAY)).await;
    assert_eq!(segments(directory.path()).len(), 2);

    let late = START.after(DAY * 9);
    store.maintain(late).await.unwrap();
    store.maintain(late).await.unwrap();
    let found = async |id| store.content(EventId::from_u64(id)).await.unwrap().is_some();
    assert!(found(10).await && found(20).await, "20 is still owed, so its segment stays whole");
    deliver(&store, 20, late).await;
    store.maintain(late).await.unwrap();
    assert!(!found(10).await && !found(20).await);
    assert!(found(30).await, "sealed a day later");
}

/// Files that are deleted and that this process has open, below a directory.
fn deleted_but_open(directory: &Path) -> Vec<PathBuf> {
    let held = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let held = held.filter_map(|held| std::fs::read_link(held).ok());
    held.filter(|file| file.starts_with(directory) && file.to_string_lossy().ends_with("(deleted)")).collect()
}

#[tokio::test]
async fn the_space_of_a_dropped_segment_is_given_back_at_once() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    accept(&store, event(10, START)).await;
    deliver(&store, 10, START).await;
    store.maintain(START.after(DAY)).await.unwrap();
    // So many at once that every reader has the segment open.
    let asked = || store.event(AccountId::from_u64(1), EventId::from_u64(10));
    for _ in 0..20 {
        let found = tokio::join!(asked(), asked(), asked(), asked(), asked(), asked());
        assert!(found.0.unwrap().is_some());
    }
    store.maintain(START.after(DAY * 9)).await.unwrap();
    assert!(!directory.path().join("segments/00000001.db").exists(), "it was dropped");
    assert_eq!(deleted_but_open(directory.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn history_goes_also_while_no_new_segment_can_be_begun() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    accept(&store, event(10, START)).await;
    deliver(&store, 10, START).await;
    store.maintain(START.after(DAY)).await.unwrap();
    std::fs::create_dir(directory.path().join("segments/00000003.db")).unwrap();
    store.maintain(START.after(DAY * 9)).await.unwrap_err();
    assert!(!directory.path().join("segments/00000001.db").exists(), "it is past its retention");
}

#[tokio::test]
async fn an_outcome_that_comes_late_goes_to_its_event_s_segment() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    accept(&store, event(10, START)).await;
    store.maintain(START.after(DAY)).await.unwrap();
    deliver(&store, 10, START.after(DAY)).await;
    let found = store.event(AccountId::from_u64(1), EventId::from_u64(10)).await.unwrap().unwrap();
    assert_eq!((found.attempts.len(), &found.content.body[..]), (1, &b"event 10"[..]));
    assert_eq!(store.lines().await.unwrap(), []);
}

#[tokio::test]
async fn an_outcome_does_not_wait_for_a_sealed_segment_that_somebody_reads() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    accept(&store, event(10, START)).await;
    let file = segments(directory.path()).remove(0);
    let reads = rusqlite::Connection::open(&file).unwrap();
    reads.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    accept(&store, event(20, START)).await;
    store.maintain(START.after(DAY)).await.unwrap();
    let begun = Instant::now();
    deliver(&store, 10, START.after(DAY)).await;
    deliver(&store, 20, START.after(DAY)).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "they waited for {:?}", begun.elapsed());

    drop(reads);
    let log = file.with_extension("db-wal");
    let is_brought_in = || std::fs::metadata(&log).is_ok_and(|log| log.len() == 0);
    while !is_brought_in() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody tried again to bring the log in");
        store.maintain(START.after(DAY)).await.unwrap();
    }
}

#[tokio::test]
async fn dead_letters_are_one_list_over_segments_and_go_with_their_event_unless_revived() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    let account = AccountId::from_u64(1);
    for day in 0..3 {
        store.maintain(START.after(DAY * day)).await.unwrap();
        accept(&store, event(u64::from(day) * 100 + 10, START)).await;
        accept(&store, event(u64::from(day) * 100 + 20, START)).await;
    }
    assert_eq!(segments(directory.path()).len(), 3);
    // They die in another order than they came.
    let deaths = [210, 10, 120, 20, 220, 110];
    for (hour, id) in (50..).zip(deaths) {
        let at = START.after(Duration::from_secs(hour * 3600));
        end(&store, id, at, Next::Dead(DeathReason::Attempts)).await;
    }
    let list = async |order| -> Vec<DeadLetter> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let filter = DeadLetterFilter::default();
            let page = store.dead_letters(DeadLetterQuery { account, filter, order, after, limit: 4 });
            let page = page.await.unwrap();
            all.extend(page.items);
            match page.next {
                None => return all,
                next => after = next,
            }
        }
    };
    let ids = |all: &[DeadLetter]| all.iter().map(|letter| letter.event.as_u64()).collect::<Vec<_>>();
    let all = list(DeadLetterOrder::OldestFirst).await;
    assert_eq!(ids(&all), deaths);
    let groups = store.dead_letter_groups(account, 9).await.unwrap();
    let last_died_at = all.last().map(|letter| letter.died_at);
    assert_eq!((groups.items.len(), groups.items[0].count), (1, 6), "a group spans segments");
    assert_eq!(Some(groups.items[0].last_died_at), last_died_at);
    let newest: Vec<u64> = deaths.into_iter().rev().collect();
    assert_eq!(ids(&list(DeadLetterOrder::NewestFirst).await), newest);

    let now = START.after(DAY * 3);
    let discarded = store.discard(account, vec![all[0].key(), all[2].key()], now).await.unwrap();
    assert_eq!(discarded.count, 2, "of two segments");
    let revivals = [1, 4].map(|index: usize| Revival { key: all[index].key(), order: None });
    assert_eq!(
        store.revive(account, revivals.to_vec(), now).await.unwrap().tickets.len(),
        2,
        "of two segments"
    );
    assert_eq!(ids(&list(DeadLetterOrder::OldestFirst).await), [20, 110]);
    let late = START.after(DAY * 30);
    store.maintain(late).await.unwrap();
    store.maintain(late).await.unwrap();
    assert_eq!(ids(&list(DeadLetterOrder::OldestFirst).await), [20], "20 is beside 10, which is owed again");
}

#[tokio::test]
async fn a_key_is_known_over_segments_and_restarts() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    let late = START.after(DAY - Duration::from_secs(60));
    accept(&store, event(10, late)).await;
    store.maintain(START.after(DAY)).await.unwrap();
    let again = || NewEvent { id: EventId::from_u64(50), ..event(10, START.after(DAY)) };
    assert_eq!(accept(&store, again()).await, Acceptance::Duplicate(EventId::from_u64(10)));
    drop(store);
    let store = open(directory.path());
    assert_eq!(accept(&store, again()).await, Acceptance::Duplicate(EventId::from_u64(10)));
}

#[tokio::test]
async fn a_write_ahead_log_does_not_grow_without_end() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    let body = Bytes::from(vec![7; 100_000]);
    for id in (10..20_000).step_by(10) {
        let event = event(id, START);
        let content = Arc::new(EventContent { body: body.clone(), ..(*event.content).clone() });
        accept(&store, NewEvent { content, idempotency: None, ..event }).await;
    }
    let log = segments(directory.path())[0].with_extension("db-wal");
    let bytes = std::fs::metadata(log).unwrap().len();
    assert!(bytes < 100 << 20, "200 MB were written; the log has {bytes} bytes");
}

#[tokio::test]
async fn the_audit_log_goes_by_age_as_events_do() {
    let directory = TempDir::new().unwrap();
    let retention = SqliteOptions::default().retention;
    records_past_their_retention_are_dropped(&open(directory.path()), retention).await;
}
