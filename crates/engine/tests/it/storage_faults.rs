//! A store that fails: events are refused at once, outcomes are kept, and it goes on by itself or ends in a fault.

use crate::gateway::{Gateway, Setup, arrival, change, every};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::switched_store::{Switch, SwitchedStore};
use crate::tls_receiver::trusting;
use crate::wait::{PATIENCE, wait_until, wait_within};
use postrider_core::delivery::DeliveryStatus;
use postrider_core::destination::{OnDeadLetter, Ordering};
use postrider_engine::send::{AddressGuard, Connector};
use postrider_engine::{Arrival, ChangeError, Engine, EngineOptions, IngestError};
use postrider_store::{Change, MemoryStore, SendWindow, Store, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};

const FULL: Switch = Switch::Fails(|| StoreError::Full);
const AWAY: Switch = Switch::Fails(|| StoreError::Unavailable("away".into()));
const FENCED: Switch = Switch::Fails(|| StoreError::Fenced);
const BROKEN_STORE: Switch = Switch::Fails(|| StoreError::Broken("fsync: EIO".into()));

async fn start_on(store: &Arc<SwitchedStore>) -> Gateway {
    Setup { store: Arc::clone(store) as Arc<dyn Store>, ..Setup::default() }.start().await
}

async fn fault_is_told(gateway: &Gateway) {
    let fault = gateway.engine.fault();
    wait_within(Duration::from_secs(3), "the fault is told", async || fault.borrow().clone()).await;
    assert!(gateway.engine.ready().is_err(), "readiness tells the truth");
}

async fn until_refused(store: &SwitchedStore, commits: usize) {
    let what = format!("{commits} commits are refused");
    wait_until(&what, async || (store.refused() >= commits).then_some(())).await;
}

/// Faults come while one delivery is under way and another event arrives; then they pass.
async fn check_passing(fault: Switch, refusal: IngestError) -> Gateway {
    let receiver = Receiver::holding(OK).await;
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    gateway.deliver_to(&receiver.url()).await;
    let under_way = gateway.accept("under way").await;
    receiver.until_requests(1).await;

    store.commits.send_replace(fault);
    receiver.release();
    until_refused(&store, 2).await;
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(gateway.ingest(&arrival("refused")).await, Err(refusal.clone()));
    }
    assert!(started.elapsed() < Duration::from_secs(2), "refusals took {:?}", started.elapsed());
    let delivering = gateway.detail(under_way).await.deliveries[0].status;
    assert_eq!(delivering, DeliveryStatus::Delivering, "its slot is not back before its outcome is on disk");

    store.commits.send_replace(Switch::Works);
    gateway.delivered_at_once(under_way).await;
    let after =
        wait_until("events are accepted again", async || gateway.ingest(&arrival("after")).await.ok());
    gateway.delivered_at_once(after.await.id).await;
    let bodies: Vec<Vec<u8>> = receiver.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(
        bodies,
        [&b"under way"[..], b"after"],
        "what was refused was not sent, nothing was sent twice"
    );
    assert_eq!(store.finished().len(), 2, "each outcome is recorded once");
    gateway
}

/// Commits that failed, and those that were fenced.
fn counted(gateway: &Gateway) -> (u64, u64) {
    let meters = gateway.engine.meters();
    (meters.commits_failed.get(), meters.commits_fenced.get())
}

#[tokio::test]
async fn a_full_disk_refuses_events_keeps_outcomes_and_recovers_by_itself() {
    check_passing(FULL, IngestError::DiskFull).await;
}

#[tokio::test]
async fn a_store_that_is_away_refuses_events_keeps_outcomes_and_recovers_by_itself() {
    let gateway = check_passing(AWAY, IngestError::Unavailable).await;
    let (failed, fenced) = counted(&gateway);
    assert!(failed >= 2 && fenced == 0, "{failed} failed, {fenced} were fenced");
}

#[tokio::test]
async fn a_fenced_commit_is_counted_as_such_and_not_as_a_failure_of_the_store() {
    let gateway = check_passing(FENCED, IngestError::Unavailable).await;
    let (failed, fenced) = counted(&gateway);
    assert!(failed == 0 && fenced >= 2, "{failed} failed, {fenced} were fenced");
}

#[tokio::test]
async fn a_line_told_to_skip_skips_a_dead_letter_that_waited_for_the_disk() {
    let (receiver, store) = (Receiver::holding(BROKEN).await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.ordering = Ordering::Strict;
    destination.retry_policy = Some(every(Duration::from_secs(1), 1));
    gateway.route("**", &destination).await;
    gateway.accept("given up on").await;
    gateway.accept("behind it").await;
    receiver.until_requests(1).await;

    store.commits.send_replace(AWAY);
    receiver.release();
    until_refused(&store, 1).await;
    destination.on_dead_letter = OnDeadLetter::Skip;
    gateway.put(&destination).await;
    store.commits.send_replace(Switch::Works);
    receiver.until_requests(2).await;
}

#[tokio::test]
async fn lines_that_could_not_be_released_are_released_when_the_store_is_back() {
    let (receiver, store) = (Receiver::answering([BROKEN, OK]).await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.ordering = Ordering::Strict;
    destination.on_dead_letter = OnDeadLetter::Block;
    destination.retry_policy = Some(every(Duration::from_millis(1), 1));
    gateway.route("**", &destination).await;
    gateway.accept("given up on").await;
    wait_until("it blocks its line", async || (store.deaths() == 1).then_some(())).await;
    gateway.accept("behind it").await;
    store.releases.send_replace(AWAY);
    destination.on_dead_letter = OnDeadLetter::Skip;
    gateway.put(&destination).await;
    wait_until("it was tried", async || (store.unreleased() > 0).then_some(())).await;
    store.releases.send_replace(Switch::Works);
    receiver.until_requests(2).await;
}

#[tokio::test]
async fn outcomes_kept_over_a_full_disk_are_followed_by_their_retries() {
    let receiver = Receiver::holding(BROKEN).await;
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::ZERO, 2));
    gateway.route("**", &destination).await;
    let events = [gateway.accept("a").await, gateway.accept("b").await, gateway.accept("c").await];
    receiver.until_requests(3).await;
    store.commits.send_replace(FULL);
    receiver.release();
    until_refused(&store, 2).await;
    assert_eq!(receiver.requests().len(), 3, "no retry before the failure is on disk");
    store.commits.send_replace(Switch::Works);
    for event in events {
        assert_eq!(gateway.settled(event).await.attempts.len(), 2);
    }
    assert_eq!((receiver.requests().len(), store.finished().len(), store.deaths()), (6, 6, 3));
}

/// One event comes due for five destinations while it cannot be read; then it can, or is found to be unreadable once first.
async fn check_read_together(meanwhile: Option<Switch>, reads: usize) {
    let (receiver, store) = (Receiver::answering([OK]).await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    for _ in 0..5 {
        gateway.deliver_to(&receiver.url()).await;
    }
    store.reads.send_replace(Switch::Hangs);
    // What is sent later is not kept in memory meanwhile.
    let deliver_at = Some(gateway.engine.clock().now().after(Duration::from_secs(1)));
    let window = SendWindow { deliver_at, expires_at: None };
    let event = gateway.ingest(&Arrival { window, ..arrival("to five") }).await.unwrap().id;
    wait_until("all five wait for the event", async || {
        (gateway.activity().await.in_flight.len() == 5).then_some(())
    })
    .await;
    if let Some(fault) = meanwhile {
        store.reads.send_replace(fault);
        wait_until("a read is refused", async || (store.unread() > 0).then_some(())).await;
    }
    store.reads.send_replace(Switch::Works);
    assert_eq!(gateway.settled(event).await.attempts.len(), 5);
    assert_eq!(store.contents(), reads);
}

#[tokio::test]
async fn an_event_is_read_once_for_all_deliveries_that_wait_for_it() {
    check_read_together(None, 1).await;
}

#[tokio::test]
async fn an_event_that_could_not_be_read_is_read_again_for_all_of_them() {
    check_read_together(Some(AWAY), 2).await;
}

#[tokio::test]
async fn a_disk_without_its_reserve_refuses_events_before_a_commit_fails() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    store.space.send_replace(FULL);
    wait_until("the engine has seen it", async || gateway.engine.ready().err()).await;
    assert_eq!(gateway.engine.ready(), Err(IngestError::DiskFull));
    assert_eq!(gateway.ingest(&arrival("x")).await, Err(IngestError::DiskFull));
    store.space.send_replace(Switch::Works);
    wait_until("there is space again", async || gateway.engine.ready().ok()).await;
    gateway.accept("x").await;
    assert_eq!(store.refused(), 0);
}

#[tokio::test]
async fn a_broken_commit_is_a_fault() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let fault = gateway.engine.fault();
    assert!(fault.borrow().is_none());
    store.commits.send_replace(BROKEN_STORE);
    assert_eq!(gateway.ingest(&arrival("x")).await, Err(IngestError::Unavailable));
    let seen = wait_until("the fault is told", async || fault.borrow().clone()).await;
    assert!(seen.0.contains("EIO"), "{seen:?}");
    store.commits.send_replace(Switch::Works);
    assert_eq!(gateway.ingest(&arrival("x")).await, Err(IngestError::Unavailable), "never tried again");
    assert_eq!(gateway.engine.ready(), Err(IngestError::Unavailable));
    assert_eq!(store.refused(), 1);
}

#[tokio::test]
async fn a_store_that_breaks_at_a_change_is_a_fault() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    store.changes.send_replace(BROKEN_STORE);
    let destination = Box::new(gateway.destination("http://127.0.0.1:1/"));
    let made = gateway.engine.change(|_| Ok::<_, ()>((vec![Change::PutDestination(destination)], ()))).await;
    assert!(matches!(made, Err(ChangeError::Store(StoreError::Broken(_)))));
    fault_is_told(&gateway).await;
}

#[tokio::test]
async fn a_store_that_breaks_at_a_burial_is_a_fault() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let destination = gateway.deliver_to("http://127.0.0.1:1/").await;
    store.upkeep.send_replace(BROKEN_STORE);
    change(&gateway.engine, vec![Change::DeleteDestination(destination.id)]).await;
    fault_is_told(&gateway).await;
}

#[tokio::test]
async fn a_store_that_breaks_at_a_read_is_a_fault() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination("http://127.0.0.1:1/");
    destination.active = false;
    gateway.route("**", &destination).await;
    gateway.accept("{}").await;
    drop(gateway);

    // What an earlier run owed is read back.
    store.reads.send_replace(BROKEN_STORE);
    let gateway = start_on(&store).await;
    fault_is_told(&gateway).await;
}

#[tokio::test]
async fn workers_that_are_gone_are_a_fault() {
    let connector = Arc::new(Connector::new(AddressGuard::default(), trusting(&[])));
    let store = Arc::new(MemoryStore::new());
    let (engine, workers) = Engine::start(store, connector, EngineOptions::default()).await.unwrap();
    drop(workers);
    let fault = engine.fault();
    wait_within(Duration::from_secs(3), "the fault is told", async || fault.borrow().clone()).await;
    assert!(engine.ready().is_err(), "readiness tells the truth");
}

#[tokio::test]
async fn a_dispatcher_that_panics_is_a_fault() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    store.commits.send_replace(Switch::Panics);
    assert!(gateway.ingest(&arrival("x")).await.is_err());
    fault_is_told(&gateway).await;
}

#[tokio::test]
async fn a_change_that_the_store_refuses_changes_nothing() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    store.changes.send_replace(FULL);
    let destination = gateway.destination("http://127.0.0.1:1/");
    let (id, account) = (destination.id, destination.account);
    let change = vec![Change::PutDestination(Box::new(destination))];
    let made = gateway.engine.change(|_| Ok::<_, ()>((change, ()))).await;
    assert!(matches!(made, Err(ChangeError::Store(StoreError::Full))));
    assert!(gateway.engine.catalog().destination(account, id).is_none());
}

#[tokio::test]
async fn a_store_that_is_away_refuses_events_before_a_commit_fails_and_who_waits_behind_one() {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    store.commits.send_replace(Switch::Hangs);
    let (first, second) = (arrival("in the commit"), arrival("behind it"));
    let behind = async {
        wait_until("a commit hangs", async || (store.commits.receiver_count() > 0).then_some(())).await;
        let goes_away = async { store.space.send_replace(AWAY) };
        let (refused, _) = tokio::join!(gateway.ingest(&second), goes_away);
        assert_eq!(refused, Err(IngestError::Unavailable));
        assert_eq!(gateway.engine.ready(), Err(IngestError::Unavailable));
        store.space.send_replace(Switch::Works);
        store.commits.send_replace(Switch::Works);
    };
    let both = async { tokio::join!(gateway.ingest(&first), behind) };
    let (taken, ()) =
        tokio::time::timeout(PATIENCE, both).await.expect("nobody waits for the hanging commit");
    assert!(taken.is_ok(), "what became of it was waited for: {taken:?}");
    wait_until("events are accepted again", async || gateway.ingest(&arrival("after")).await.ok()).await;
}
