//! Events that are owed to many destinations at once: what one commit has of them is bounded, and a batch is in one.

use crate::gateway::{Gateway, Setup, arrival, change};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use futures_util::future::join_all;
use postrider_core::limits::{BATCH_DELIVERIES_MAX, COMMIT_DELIVERIES_MAX};
use postrider_core::time::Timestamp;
use postrider_engine::{Arrival, EngineOptions, IngestError};
use postrider_store::{Change, Route, SendWindow};
use std::sync::Arc;
use std::time::Duration;

const DESTINATIONS: usize = 500;
/// Of so many events no more go into one commit.
const EVENTS_MAX: usize = COMMIT_DELIVERIES_MAX / DESTINATIONS;

/// A gateway whose events all go to many destinations.
async fn start(store: &Arc<SwitchedStore>) -> Gateway {
    let mut options = EngineOptions::default();
    // A commit is held up here for as long as it takes to offer the events.
    options.backlog.commit = Duration::from_secs(600);
    let gateway = Setup { store: Arc::clone(store) as _, options, ..Setup::default() }.start().await;
    let made = |_| {
        let destination = gateway.destination("http://127.0.0.1:9/");
        let id = postrider_core::id::RouteId::from_u64(gateway.engine.next_id());
        let route = Route::new(id, gateway.source.account, destination.id, Timestamp::ZERO);
        [Change::PutDestination(Box::new(destination)), Change::PutRoute(route)]
    };
    change(&gateway.engine, (0..DESTINATIONS).flat_map(made).collect()).await;
    gateway
}

/// An event that is sent long after the test.
fn later(gateway: &Gateway) -> Arrival {
    let deliver_at = Some(gateway.engine.clock().now().after(Duration::from_secs(3600)));
    Arrival { window: SendWindow { deliver_at, expires_at: None }, ..arrival("{}") }
}

#[tokio::test]
async fn events_for_many_destinations_are_written_by_several_commits() {
    const EVENTS: usize = 2 * EVENTS_MAX + 1;
    let store = SwitchedStore::new();
    let gateway = start(&store).await;
    store.commits.send_replace(Switch::Hangs);
    let offer = |_| gateway.engine.offer(&gateway.source, later(&gateway)).unwrap();
    let offered: Vec<_> = (0..EVENTS).map(offer).collect();
    store.commits.send_replace(Switch::Works);
    for accepted in join_all(offered.into_iter().map(|offered| gateway.engine.kept(offered))).await {
        assert_eq!(accepted.map(|accepted| accepted.deliveries), Ok(DESTINATIONS));
    }
    let widths = store.widths();
    assert_eq!(widths.iter().sum::<usize>(), EVENTS * DESTINATIONS);
    assert!(widths.iter().all(|width| *width <= COMMIT_DELIVERIES_MAX), "{widths:?}");
}

#[tokio::test]
async fn a_batch_is_in_one_commit_however_many_destinations_it_is_for() {
    const LINES: usize = EVENTS_MAX + 5;
    let store = SwitchedStore::new();
    let gateway = start(&store).await;
    let lines = (0..LINES).map(|_| later(&gateway)).collect();
    let answers = gateway.engine.send_all(gateway.source.account, None, lines).await.unwrap();
    assert!(answers.len() == LINES && answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(store.widths(), [LINES * DESTINATIONS]);
}

#[tokio::test]
async fn a_batch_that_nobody_could_wait_for_is_refused_as_a_whole() {
    let store = SwitchedStore::new();
    let gateway = start(&store).await;
    let lines = |count| (0..count).map(|_| later(&gateway)).collect();
    let send = |count| gateway.engine.send_all(gateway.source.account, None, lines(count));
    let most = BATCH_DELIVERIES_MAX / DESTINATIONS;
    assert_eq!(send(most + 1).await, Err(IngestError::TooWide));
    assert!(store.widths().is_empty(), "nothing of it was written");
    assert_eq!(send(most).await.map(|answers| answers.len()), Ok(most));
    wait_until("it is written", async || (store.widths() == [BATCH_DELIVERIES_MAX]).then_some(())).await;
}
