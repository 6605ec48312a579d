//! Lists of dead letters over many segments.

use crate::files::{DAY, START, event, open};
use postrider_core::event::EventType;
use postrider_core::id::AccountId;
use postrider_core::limits::SCAN_DEAD_LETTERS_MAX;
use postrider_core::outcome::DeathReason;
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;
use postrider_sqlite::SqliteStore;
use postrider_store::{
    Batch, DeadLetterFilter, DeadLetterOrder, DeadLetterPage, DeadLetterPosition, DeadLetterQuery,
    EventContent, GivenUp, NewEvent, Store,
};
use std::sync::Arc;
use tempfile::TempDir;

const SEGMENTS: u32 = 3;

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
