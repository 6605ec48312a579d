//! A filter by where events stand is answered by a few statements, not by some for each event.

use super::*;
use crate::standing::{ATTEMPTS, DEAD_LETTERS};
use postrider_core::id::AccountId;
use postrider_store::{EventStatus, FanOut};
use rusqlite::StatementStatus;

/// The last step finds fewer than it asks for.
const STEPS: i32 = 4;
const EVENTS: i64 = STEPS as i64 * STEP as i64 - 1;

/// All are delivered, but for one that waits for its first attempt, one for another, and one that was given up on.
const FILL: &str = "
    CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        SELECT i, i * 10 AS event, i * 10 + 1 AS delivery FROM n;
    INSERT INTO events (id, account_id, received_at, deliveries, headers, body)
        SELECT event, 1, i, '[[' || delivery || ',9,3,3]]', '', x'' FROM n WHERE i <= (SELECT count FROM wanted);
    INSERT INTO attempts (event_id, id, delivery_id, destination_id, number, started_at, outcome, next, next_due_at,
                          total_us, request_headers, response_headers, response_body)
        SELECT event, event + 2, delivery, 9, 1, i, 'x', CASE i WHEN 5 THEN 'retry' WHEN 7 THEN 'attempts' ELSE 'delivered' END,
               CASE i WHEN 5 THEN 99 END, 1, '', '', x'' FROM n WHERE i <> 3;
    INSERT INTO dead_letters (delivery_id, event_id, account_id, destination_id, route_id, priority, attempts, bytes, reason, died_at)
        SELECT delivery, event, 1, 9, 3, 3, 1, 0, 'attempts', i FROM n WHERE i = 7;";

fn segment() -> Connection {
    let segment = Connection::open_in_memory().unwrap();
    segment.execute_batch(include_str!("../../migrations/segment/V1__segment.sql")).unwrap();
    segment.execute("CREATE TEMP TABLE wanted AS SELECT ?1 AS count", [EVENTS]).unwrap();
    segment.execute_batch(FILL).unwrap();
    segment
}

/// Which events stand so, and how often attempts and dead letters were asked for.
fn check(word: &str, expected: &[u64], runs_expected: (i32, i32)) {
    let segment = segment();
    let filter = EventFilter { status: EventStatus::from_word(word), ..EventFilter::default() };
    let query = EventQuery {
        account: AccountId::from_u64(1),
        filter,
        after: None,
        limit: 10,
        offset: 0,
        fan_out: FanOut::All,
    };
    let mut scan = ListScan::new(&query);
    look_through(&segment, &query, query.ids(), &mut scan).unwrap();
    let page = scan.page();
    let found: Vec<u64> = page.items.iter().map(|event| event.id.as_u64()).collect();
    assert_eq!((page.scanned, &found[..]), (EVENTS as u64, expected), "{word}");
    // Each event that is shown is read by itself.
    let shown = expected.len() as i32;
    let runs = |sql| segment.prepare_cached(sql).unwrap().get_status(StatementStatus::Run) - shown;
    assert_eq!((runs(ATTEMPTS), runs(DEAD_LETTERS)), runs_expected, "{word}");
}

#[test]
fn where_events_stand_is_read_in_large_steps() {
    check("queued", &[30], (STEPS, STEPS));
    check("retry_scheduled", &[50], (STEPS, STEPS));
    // Attempts are read where there is a dead letter, and nowhere else.
    check("dead_letter", &[70], (1, STEPS));
}
