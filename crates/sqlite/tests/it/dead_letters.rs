//! Lists of dead letters over many segments.

use crate::files::{DAY, START, event, open};
use postrider_core::delivery::{OrderKey, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::AccountId;
use postrider_core::limits::SCAN_DEAD_LETTERS_MAX;
use postrider_core::outcome::DeathReason;
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;
use postrider_sqlite::SqliteStore;
use postrider_store::{
    Batch, DeadLetterFilter, DeadLetterKey, DeadLetterOrder, DeadLetterPage, DeadLetterPosition,
    DeadLetterQuery, EventContent, GivenUp, NewEvent, Revival, Store, StoreError,
};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const SEGMENTS: u32 = 3;
const ACCOUNT: AccountId = AccountId::from_u64(1);

/// Accepts them and gives up on all.
async fn bury(store: &SqliteStore, events: Vec<NewEvent>, died_at: Timestamp) {
    let given_up = events.iter().flat_map(NewEvent::tickets).map(|ticket| GivenUp {
        account: AccountId::from_u64(1),
        ticket,
        reason: DeathReason::Age,
        last_error: None,
        died_at,
        blocks_line: false,
    });
    let given_up = given_up.collect();
    store.commit(Arc::new(Batch { events, ..Batch::default() })).await.unwrap();
    store.commit(Arc::new(Batch { given_up, ..Batch::default() })).await.unwrap();
}

async fn page(store: &SqliteStore, after: Option<DeadLetterPosition>) -> DeadLetterPage {
    let event_type = Some(EventPattern::parse("rare.one").unwrap());
    let filter = DeadLetterFilter { event_type, ..DeadLetterFilter::default() };
    let (account, order) = (AccountId::from_u64(1), DeadLetterOrder::NewestFirst);
    store.dead_letters(DeadLetterQuery { account, filter, order, after, limit: 10 }).await.unwrap()
}

/// A store with an event in each of two segments, and a connection to the file of the second.
async fn two_segments(directory: &Path, events: [NewEvent; 2]) -> (SqliteStore, rusqlite::Connection) {
    let store = open(directory);
    for (day, event) in (0..).zip(events) {
        let now = START.after(DAY * day);
        store.maintain(now).await.unwrap();
        store.commit(Arc::new(Batch { events: vec![event], ..Batch::default() })).await.unwrap();
    }
    let second = rusqlite::Connection::open(directory.join("segments/00000002.db")).unwrap();
    (store, second)
}

async fn give_up(store: &SqliteStore, events: &[NewEvent], blocks_line: bool) -> Vec<Revival> {
    let tickets = || events.iter().flat_map(NewEvent::tickets);
    let given_up = |ticket| GivenUp {
        account: ACCOUNT,
        ticket,
        reason: DeathReason::Age,
        last_error: None,
        died_at: START,
        blocks_line,
    };
    let given_up = tickets().map(given_up).collect();
    store.commit(Arc::new(Batch { given_up, ..Batch::default() })).await.unwrap();
    let key = |ticket: Ticket| DeadLetterKey { event: ticket.event, delivery: ticket.delivery };
    tickets().map(|ticket| Revival { key: key(ticket), order: None }).collect()
}

/// From now on the rows of a table cannot be found in a file.
fn damage(file: &rusqlite::Connection, table: &str) {
    let lost = format!("UPDATE sqlite_schema SET rootpage = 999999 WHERE name = '{table}'");
    let version: i64 = file.query_row("PRAGMA schema_version", [], |row| row.get(0)).unwrap();
    file.execute_batch(&format!(
        "PRAGMA writable_schema = ON; {lost}; PRAGMA schema_version = {}",
        version + 1
    ))
    .unwrap();
}

async fn is_trusted(store: &SqliteStore) -> bool {
    !matches!(store.commit(Arc::default()).await, Err(StoreError::Broken(_)))
}

#[tokio::test]
async fn a_revival_that_breaks_in_the_middle_says_what_is_owed_and_nothing_is_written_after() {
    let directory = TempDir::new().unwrap();
    let events = [event(10, START), event(20, START.after(DAY))];
    let (store, second) = two_segments(directory.path(), events.clone()).await;
    let revivals = give_up(&store, &events, false).await;
    damage(&second, "dead_letters");
    let owed = store.revive(ACCOUNT, revivals, START.after(DAY)).await.unwrap();
    assert_eq!(owed.tickets.len(), 1, "of the first segment");
    assert!(!is_trusted(&store).await);
}

#[tokio::test]
async fn a_discard_that_breaks_in_the_middle_says_what_is_gone_and_nothing_is_written_after() {
    let directory = TempDir::new().unwrap();
    let events = [event(10, START), event(20, START.after(DAY))];
    let (store, second) = two_segments(directory.path(), events.clone()).await;
    let letters = give_up(&store, &events, false).await.into_iter().map(|revival| revival.key).collect();
    damage(&second, "dead_letters");
    assert_eq!(store.discard(ACCOUNT, letters, START.after(DAY)).await.unwrap().count, 1);
    assert!(!is_trusted(&store).await);
}

#[tokio::test]
async fn keys_that_were_let_go_before_a_segment_failed_are_counted() {
    let directory = TempDir::new().unwrap();
    let mut events = [event(10, START), event(20, START.after(DAY))];
    for (key, event) in (1..).zip(&mut events) {
        event.deliveries[0].order = Some(OrderKey::from_u64(key));
    }
    let (store, second) = two_segments(directory.path(), events.clone()).await;
    give_up(&store, &events, true).await;
    let destination = events[0].deliveries[0].destination;
    damage(&second, "queue");
    let gone = store.release(destination).await.unwrap();
    assert_eq!(gone.rows, 1, "of the first segment");
    assert!(!is_trusted(&store).await);
}

#[tokio::test]
async fn a_filter_looks_through_only_so_many_of_all_segments_together() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    // One too many for a page, the oldest of them of a type of its own.
    let each = u64::try_from(SCAN_DEAD_LETTERS_MAX).unwrap() / u64::from(SEGMENTS) + 1;
    for day in 0..SEGMENTS {
        let now = START.after(DAY * day);
        store.maintain(now).await.unwrap();
        let first = u64::from(day) * each * 10 + 10;
        let mut events: Vec<NewEvent> = (0..each).map(|n| event(first + n * 10, now)).collect();
        events.iter_mut().for_each(|event| event.idempotency = None);
        if day == 0 {
            let event_type = EventType::parse("rare.one").ok();
            let content = EventContent { event_type, ..(*events[0].content).clone() };
            events[0].content = Arc::new(content);
        }
        bury(&store, events, now).await;
    }
    let first = page(&store, None).await;
    assert_eq!(first.items.len(), 0);
    let second = page(&store, Some(first.next.expect("it was broken off"))).await;
    let found: Vec<u64> = second.items.iter().map(|letter| letter.event.as_u64()).collect();
    assert_eq!((found, second.next), (vec![10], None));
}
