//! Days of history: made ahead whoever reads meanwhile, dropped by age, and kept while something of them is owed.

use crate::{opened, owed};
use postrider_core::id::least_at;
use postrider_core::time::Timestamp;
use postrider_postgres::PostgresStore;
use postrider_postgres::testing::Server;
use postrider_store::{Batch, NewEvent, Store};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const LEASE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Far more than a lock is waited for, and half of what it was that kept commits waiting.
const HELD_UP_MAX: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(30);
const TABLES: [&str; 4] = ["events", "attempts", "dead_letters", "idempotency"];

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_unix_ms(u64::try_from(since.as_millis()).unwrap())
}

/// An event of this moment.
fn event(number: u64, at: Timestamp) -> NewEvent {
    owed(least_at(at) + 2 * number, at)
}

async fn accept(store: &PostgresStore, event: NewEvent) {
    store.commit(Arc::new(Batch { events: vec![event], ..Batch::default() })).await.unwrap();
}

fn drop_day(url: &str, day: u64) {
    let partitions = TABLES.map(|table| format!("{table}_d{day}")).join(", ");
    Server::shared().ask(url, &format!("DROP TABLE {partitions}"));
}

/// Which tables have a partition for a day.
fn made(url: &str, day: u64) -> Vec<&'static str> {
    let is_there = |table: &&str| {
        let asked =
            format!("SELECT count(*) FROM pg_class WHERE relispartition AND relname = '{table}_d{day}'");
        Server::shared().ask(url, &asked) == "1"
    };
    TABLES.into_iter().filter(is_there).collect()
}

fn count(url: &str, table: &str) -> String {
    Server::shared().ask(url, &format!("SELECT count(*) FROM {table}"))
}

/// Something that keeping house wants to do cannot be done while somebody reads all events; commits go on meanwhile.
async fn check_read_meanwhile(
    before: impl AsyncFnOnce(&PostgresStore, &str),
    is_done: impl Fn(&str) -> bool,
) {
    let url = Server::shared().database();
    let (store, now) = (opened(&url, LEASE).await, now());
    before(&store, &url).await;
    let reader = Server::shared().hold(&url, "BEGIN; SELECT count(*) FROM events;");
    let house = async {
        loop {
            assert!(store.maintain(now).await.is_err(), "it was done while somebody read");
        }
    };
    let commits = async {
        for number in 0..30 {
            let began = Instant::now();
            accept(&store, event(number, now)).await;
            assert!(began.elapsed() < HELD_UP_MAX, "a commit took {:?}", began.elapsed());
        }
    };
    tokio::select! {
        () = house => {}
        () = commits => {}
    }
    let starts = tokio::time::timeout(PATIENCE, opened(&url, LEASE)).await;
    starts.expect("a node starts meanwhile").close().await.unwrap();
    assert!(!is_done(&url));
    drop(reader);
    let done = async {
        while !is_done(&url) {
            let _ = store.maintain(now).await;
        }
    };
    tokio::time::timeout(PATIENCE, done).await.expect("it is done once nobody reads");
}

#[tokio::test]
async fn commits_and_starts_go_on_while_a_day_cannot_be_made() {
    let day = now().day() + 1;
    check_read_meanwhile(async |_, url| drop_day(url, day), |url| made(url, day) == TABLES).await;
}

#[tokio::test]
async fn commits_and_starts_go_on_while_a_day_cannot_be_dropped() {
    let past = now().before(DAY * 30);
    let is_gone = |url: &str| made(url, past.day()).is_empty();
    check_read_meanwhile(async |store, _| store.maintain(past).await.unwrap(), is_gone).await;
}

#[tokio::test]
async fn a_day_is_made_ahead_kept_while_something_of_it_is_owed_and_dropped_by_age() {
    let url = Server::shared().database();
    let (store, now) = (opened(&url, LEASE).await, now());
    (0..3).for_each(|ahead| assert_eq!(made(&url, now.day() + ahead), TABLES, "{ahead} days ahead"));
    accept(&store, event(0, now)).await;
    let later = now.after(DAY * 9);
    store.maintain(later).await.unwrap();
    assert_eq!(made(&url, now.day()), TABLES, "something of it is owed");
    assert_eq!(made(&url, now.day() + 1), [""; 0], "nothing is owed of the next");
    assert_eq!(made(&url, later.day()), TABLES);
    Server::shared().ask(&url, "DELETE FROM queue");
    store.maintain(later).await.unwrap();
    assert_eq!((made(&url, now.day()), count(&url, "events")), (Vec::new(), "0".to_owned()));
}

#[tokio::test]
async fn what_fell_into_no_day_stops_no_other_day_and_goes_by_age_too() {
    let url = Server::shared().database();
    let (store, now) = (opened(&url, LEASE).await, now());
    let next = now.after(DAY);
    (1..3).for_each(|ahead| drop_day(&url, now.day() + ahead));
    accept(&store, event(0, next)).await;
    assert_eq!(count(&url, "events_other"), "1");
    store.maintain(now).await.unwrap();
    assert_eq!(made(&url, next.day()), TABLES[1..], "events of that day have their place already");
    assert_eq!(made(&url, next.day() + 1), TABLES);
    opened(&url, LEASE).await.close().await.unwrap();
    let later = now.after(DAY * 10);
    store.maintain(later).await.unwrap();
    assert_eq!(count(&url, "events_other"), "1", "it is owed");
    Server::shared().ask(&url, "DELETE FROM queue");
    store.maintain(later).await.unwrap();
    assert_eq!((count(&url, "events_other"), made(&url, next.day())), ("0".to_owned(), Vec::new()));
}
