//! Replays as jobs: over restarts, at a rate, paused, cancelled, and never owing anything twice.

use crate::gateway::{Gateway, Setup, every};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use postrider_core::destination::CircuitPolicy;
use postrider_core::id::DeliveryId;
use postrider_core::limits::REPLAYS_OPEN_MAX;
use postrider_engine::{ReplayChange, ReplayError, Revived};
use postrider_store::{
    Change, DeadLetter, DeadLetterFilter, DeadLetterOrder, DeadLetterQuery, Destination, Replay, ReplayState,
    Store, StoreError,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// On what an earlier run left, once its threads have let go of it: a process that crashed writes nothing more.
async fn start_on(store: &Arc<SwitchedStore>) -> Gateway {
    wait_until("the run before is gone", async || (Arc::strong_count(store) == 1).then_some(())).await;
    Setup { store: Arc::clone(store) as Arc<dyn Store>, ..Setup::default() }.start().await
}

/// A gateway whose one destination gave up on so many events at their first attempt, and answers well from then on.
async fn with_dead_letters(store: &Arc<SwitchedStore>, count: usize) -> (Gateway, Receiver, Destination) {
    let gateway = start_on(store).await;
    let broken = Receiver::answering([BROKEN]).await;
    let mut destination = gateway.destination(&broken.url());
    destination.retry_policy = Some(every(Duration::from_secs(1), 1));
    destination.circuit = CircuitPolicy::new(Some(10_000), None, None).unwrap();
    gateway.route("**", &destination).await;
    for n in 0..count {
        gateway.accept(format!("{n}")).await;
    }
    wait_until("all are dead", async || (gateway.activity().await.pending.rows == 0).then_some(())).await;
    let healed = Receiver::answering([OK]).await;
    destination.url = healed.url();
    gateway.put(&destination).await;
    (gateway, healed, destination)
}

async fn dead_letters(gateway: &Gateway) -> Vec<DeadLetter> {
    let (account, filter) = (gateway.source.account, DeadLetterFilter::default());
    let query =
        DeadLetterQuery { account, filter, order: DeadLetterOrder::OldestFirst, after: None, limit: 10_000 };
    gateway.engine.dead_letters().list(query).await.unwrap().items
}

async fn replay(gateway: &Gateway, rate_per_second: Option<f64>) -> Replay {
    let filter = DeadLetterFilter::default();
    gateway.engine.replays().create(gateway.source.account, filter, rate_per_second).await.unwrap()
}

async fn seen(gateway: &Gateway, replay: &Replay) -> Replay {
    gateway.engine.replays().find(gateway.source.account, replay.id).await.unwrap().unwrap()
}

async fn ended(gateway: &Gateway, replay: &Replay) -> Replay {
    let look = async || Some(seen(gateway, replay).await).filter(|seen| seen.state.is_final());
    wait_until("a replay is ended", look).await
}

async fn set(gateway: &Gateway, replay: &Replay, change: ReplayChange) -> Result<Replay, ReplayError> {
    gateway.engine.replays().change(gateway.source.account, replay.id, change).await
}

fn to(state: ReplayState) -> ReplayChange {
    ReplayChange { state: Some(state), rate_per_second: None }
}

#[tokio::test]
async fn a_replay_delivers_every_dead_letter_once() {
    let (gateway, receiver, _) = with_dead_letters(&SwitchedStore::new(), 700).await;
    let (first, second) = tokio::join!(replay(&gateway, None), replay(&gateway, None));
    let (first, second) = (ended(&gateway, &first).await, ended(&gateway, &second).await);
    assert_eq!((first.state, first.total), (ReplayState::Done, 700));
    assert_eq!(first.done + second.done, 700, "each by one of the two");
    assert_eq!(first.done + first.skipped, first.total);
    receiver.until_requests(700).await;
    wait_until("nothing is owed", async || (gateway.activity().await.pending.rows == 0).then_some(())).await;
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (700, 0));
    let third = replay(&gateway, None).await;
    assert_eq!((third.total, ended(&gateway, &third).await.done), (0, 0), "there is nothing left");
}

#[tokio::test]
async fn a_replay_goes_on_after_a_crash() {
    let store = SwitchedStore::new();
    let (gateway, receiver, _) = with_dead_letters(&store, 60).await;
    let job = replay(&gateway, Some(20.0)).await;
    wait_until("some are replayed", async || (seen(&gateway, &job).await.done >= 5).then_some(())).await;
    drop(gateway);
    let gateway = start_on(&store).await;
    let rate_per_second = Some(None);
    set(&gateway, &job, ReplayChange { state: None, rate_per_second }).await.unwrap();
    let job = ended(&gateway, &job).await;
    assert_eq!((job.state, job.total, job.done, job.skipped), (ReplayState::Done, 60, 60, 0));
    wait_until("nothing is owed", async || (gateway.activity().await.pending.rows == 0).then_some(())).await;
    receiver.until_requests(60).await;
    assert_eq!(dead_letters(&gateway).await, []);
}

#[tokio::test]
async fn a_step_that_was_cut_off_is_counted_after_the_crash() {
    let store = SwitchedStore::new();
    let (gateway, _receiver, _) = with_dead_letters(&store, 10).await;
    let job = replay(&gateway, Some(0.01)).await;
    wait_until("one is replayed", async || (seen(&gateway, &job).await.done == 1).then_some(())).await;
    // The store has made more of them owed than the job's row says, as if the process died in between.
    store.put_replay(Replay { done: 0, ..seen(&gateway, &job).await }).await.unwrap();
    drop(gateway);
    let gateway = start_on(&store).await;
    // The one from before, and one that the new run makes owed at once.
    wait_until("it is counted", async || (seen(&gateway, &job).await.done == 2).then_some(())).await;
}

#[tokio::test]
async fn what_somebody_else_took_is_not_counted_as_replayed_after_a_restart() {
    let store = SwitchedStore::new();
    let (gateway, _receiver, _) = with_dead_letters(&store, 10).await;
    let job = replay(&gateway, Some(0.01)).await;
    wait_until("one is replayed", async || (seen(&gateway, &job).await.done == 1).then_some(())).await;
    set(&gateway, &job, to(ReplayState::Paused)).await.unwrap();
    let taken = dead_letters(&gateway).await.iter().take(3).map(|letter| letter.delivery).collect();
    let filter = DeadLetterFilter { deliveries: Some(taken), ..DeadLetterFilter::default() };
    let discarded = gateway.engine.dead_letters().discard(gateway.source.account, filter).await;
    assert_eq!(discarded.unwrap(), 3);
    drop(gateway);
    let gateway = start_on(&store).await;
    let look = async || Some(seen(&gateway, &job).await).filter(|seen| seen.skipped > 0);
    let found = wait_until("it is counted", look).await;
    assert_eq!((found.done, found.skipped), (1, 3));
    let resume = ReplayChange { state: Some(ReplayState::Running), rate_per_second: Some(None) };
    set(&gateway, &job, resume).await.unwrap();
    let job = ended(&gateway, &job).await;
    assert_eq!((job.total, job.done, job.skipped), (10, 7, 3));
}

#[tokio::test]
async fn a_paused_replay_waits_and_a_cancelled_one_ends() {
    let store = SwitchedStore::new();
    let (gateway, _receiver, _) = with_dead_letters(&store, 30).await;
    let job = replay(&gateway, Some(1.0)).await;
    wait_until("one is replayed", async || (seen(&gateway, &job).await.done >= 1).then_some(())).await;
    let paused = set(&gateway, &job, to(ReplayState::Paused)).await.unwrap();
    drop(gateway);
    let gateway = start_on(&store).await;
    assert_eq!(seen(&gateway, &job).await.state, ReplayState::Paused, "over a restart too");
    // Without a rate it would be over at once; another job of the same thread is done meanwhile.
    set(&gateway, &job, ReplayChange { state: None, rate_per_second: Some(None) }).await.unwrap();
    let last = dead_letters(&gateway).await.pop().unwrap();
    let filter = DeadLetterFilter { deliveries: Some(vec![last.delivery]), ..DeadLetterFilter::default() };
    let other = gateway.engine.replays().create(gateway.source.account, filter, None).await.unwrap();
    assert_eq!(ended(&gateway, &other).await.done, 1);
    assert_eq!(seen(&gateway, &job).await.done, paused.done);
    let rate_per_second = Some(Some(10.0));
    let resume = ReplayChange { state: Some(ReplayState::Running), rate_per_second };
    set(&gateway, &job, resume).await.unwrap();
    let more = paused.done + 2;
    wait_until("it goes on", async || (seen(&gateway, &job).await.done >= more).then_some(())).await;
    let cancelled = set(&gateway, &job, to(ReplayState::Cancelled)).await.unwrap();
    assert!(cancelled.done < 30 && cancelled.ended_at.is_some(), "{cancelled:?}");
    assert_eq!(dead_letters(&gateway).await.len() as u64, 30 - 1 - cancelled.done);
    let refused = set(&gateway, &job, to(ReplayState::Running)).await;
    assert!(matches!(refused, Err(ReplayError::Ended(ReplayState::Cancelled))), "{refused:?}");
    drop(gateway);
    let gateway = start_on(&store).await;
    assert_eq!(seen(&gateway, &job).await, cancelled);
}

#[tokio::test]
async fn a_rate_is_kept() {
    let (gateway, receiver, _) = with_dead_letters(&SwitchedStore::new(), 21).await;
    let begun = Instant::now();
    let job = replay(&gateway, Some(20.0)).await;
    ended(&gateway, &job).await;
    let took = begun.elapsed();
    // Twenty-one in steps of two: the last begins a second after the first.
    assert!(took >= Duration::from_millis(900), "21 at 20 a second took {took:?}");
    let at: Vec<Instant> = receiver.until_requests(21).await.iter().map(|request| request.at).collect();
    let within =
        |from: Instant| at.iter().filter(move |at| **at >= from && **at < from + Duration::from_millis(200));
    let most = at.iter().map(|from| within(*from).count()).max();
    assert!(most <= Some(12), "{most:?} of 21 within 200 ms is no smooth rate of 20 a second");
}

#[tokio::test]
async fn a_store_that_is_away_delays_a_replay() {
    let store = SwitchedStore::new();
    let (gateway, _receiver, _) = with_dead_letters(&store, 10).await;
    store.revivals.send_replace(Switch::Fails(|| StoreError::Unavailable("away".into())));
    let job = replay(&gateway, None).await;
    let refused = gateway.engine.dead_letters();
    let letters = dead_letters(&gateway).await;
    assert!(refused.revive(gateway.source.account, letters[0].delivery).await.is_err());
    assert_eq!(seen(&gateway, &job).await.state, ReplayState::Running);
    store.revivals.send_replace(Switch::Works);
    assert_eq!(ended(&gateway, &job).await.done, 10);
}

#[tokio::test]
async fn what_a_store_left_when_it_failed_in_the_middle_is_replayed_too() {
    let store = SwitchedStore::new();
    let (gateway, receiver, _) = with_dead_letters(&store, 40).await;
    store.halves.store(2, Ordering::SeqCst);
    let job = replay(&gateway, None).await;
    let job = ended(&gateway, &job).await;
    assert_eq!((job.total, job.done, job.skipped), (40, 40, 0));
    assert_eq!(receiver.until_requests(40).await.len(), 40);
    assert_eq!(store.halves.load(Ordering::SeqCst), 0, "the store failed in the middle, twice");
}

#[tokio::test]
async fn what_a_store_left_when_it_failed_in_the_middle_is_discarded_too() {
    let store = SwitchedStore::new();
    let (gateway, _receiver, _) = with_dead_letters(&store, 40).await;
    store.halves.store(2, Ordering::SeqCst);
    let letters = gateway.engine.dead_letters();
    let discarded = letters.discard(gateway.source.account, DeadLetterFilter::default());
    assert_eq!(discarded.await.unwrap(), 40);
    assert_eq!(dead_letters(&gateway).await, []);
}

#[tokio::test]
async fn what_belongs_to_a_deleted_destination_is_skipped() {
    let (gateway, receiver, destination) = with_dead_letters(&SwitchedStore::new(), 5).await;
    crate::gateway::change(&gateway.engine, vec![Change::DeleteDestination(destination.id)]).await;
    let letters = dead_letters(&gateway).await;
    let one = gateway.engine.dead_letters().revive(gateway.source.account, letters[0].delivery).await;
    assert_eq!(one.unwrap(), Revived::NoDestination);
    let job = replay(&gateway, None).await;
    let job = ended(&gateway, &job).await;
    assert_eq!((job.total, job.done, job.skipped), (5, 0, 5));
    let discarded =
        gateway.engine.dead_letters().discard(gateway.source.account, DeadLetterFilter::default());
    assert_eq!(discarded.await.unwrap(), 5);
    assert_eq!((dead_letters(&gateway).await, receiver.requests().len()), (vec![], 0));
}

#[tokio::test]
async fn one_dead_letter_is_replayed_at_once() {
    let (gateway, receiver, _) = with_dead_letters(&SwitchedStore::new(), 3).await;
    let letters = dead_letters(&gateway).await;
    let (account, all) = (gateway.source.account, gateway.engine.dead_letters());
    let (one, event) = (letters[1].delivery, letters[1].event);
    let (first, second) = tokio::join!(all.revive(account, one), all.revive(account, one));
    let both = [first.unwrap(), second.unwrap()];
    assert!(both.contains(&Revived::Owed) && both.contains(&Revived::Unknown), "{both:?}");
    assert_eq!(all.revive(account, DeliveryId::from_u64(1)).await.unwrap(), Revived::Unknown);
    assert_eq!(receiver.until_requests(1).await[0].one("webhook-id"), event.to_string());
    assert_eq!(dead_letters(&gateway).await.len(), 2);
}

#[tokio::test]
async fn an_account_has_only_so_many_replays_at_once() {
    // Each takes one of them before it is paused.
    let (gateway, _receiver, _) = with_dead_letters(&SwitchedStore::new(), 3 * REPLAYS_OPEN_MAX).await;
    for _ in 0..REPLAYS_OPEN_MAX {
        let job = replay(&gateway, Some(0.001)).await;
        set(&gateway, &job, to(ReplayState::Paused)).await.unwrap();
    }
    let one_more = gateway.engine.replays().create(gateway.source.account, DeadLetterFilter::default(), None);
    assert!(matches!(one_more.await, Err(ReplayError::TooMany)));
}

#[tokio::test]
async fn however_many_replays_are_asked_for_at_once_there_are_only_so_many() {
    // Each takes one of them and has more to do.
    let (gateway, _receiver, _) = with_dead_letters(&SwitchedStore::new(), 8 * REPLAYS_OPEN_MAX).await;
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..4 * REPLAYS_OPEN_MAX {
        let (replays, account) = (Arc::clone(gateway.engine.replays()), gateway.source.account);
        // So slow that none ends meanwhile.
        let create =
            async move { replays.create(account, DeadLetterFilter::default(), Some(0.001)).await.is_ok() };
        asked.spawn(create);
    }
    let made = asked.join_all().await.into_iter().filter(|made| *made).count();
    let of_account = gateway.engine.replays().list(gateway.source.account).await.unwrap();
    let open = of_account.iter().filter(|replay| !replay.state.is_final()).count();
    assert!(open <= REPLAYS_OPEN_MAX, "{open} of {made} are open");
}
