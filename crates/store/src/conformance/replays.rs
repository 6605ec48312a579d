//! Replays as jobs that outlive a restart.

use super::Harness;
use super::sample::{ACCOUNT, START, destination, seconds};
use crate::{DeadLetterFilter, Replay, ReplayState, Store};
use postrider_core::id::{AccountId, DeliveryId, ReplayId, SourceId};
use postrider_core::limits::REPLAYS_ENDED_MAX;
use postrider_core::outcome::DeathReason;
use postrider_core::pattern::EventPattern;

fn replay(id: u64, state: ReplayState) -> Replay {
    Replay {
        id: ReplayId::from_u64(id),
        account: ACCOUNT,
        filter: DeadLetterFilter::default(),
        rate_per_second: None,
        state,
        total: 10,
        done: 0,
        skipped: 0,
        created_at: START,
        updated_at: START,
        ended_at: None,
    }
}

async fn put(store: &dyn Store, replay: &Replay) {
    store.put_replay(replay.clone()).await.unwrap();
}

pub async fn a_replay_comes_back_with_every_field(harness: &dyn Harness) {
    let store = harness.open().await;
    let full = Replay {
        filter: DeadLetterFilter {
            destination: Some(destination(10)),
            source: Some(SourceId::from_u64(5)),
            event_type: Some(EventPattern::parse("payment.**").unwrap()),
            reason: Some(DeathReason::DestinationDeleted),
            since: Some(START),
            until: Some(START.after(seconds(5))),
            deliveries: Some(vec![DeliveryId::from_u64(7), DeliveryId::from_u64(9)]),
        },
        rate_per_second: Some(0.5),
        done: 7,
        skipped: 3,
        updated_at: START.after(seconds(1)),
        ended_at: Some(START.after(seconds(2))),
        ..replay(900, ReplayState::Done)
    };
    let plain = replay(901, ReplayState::Paused);
    put(&*store, &plain).await;
    put(&*store, &full).await;
    drop(store);
    let store = harness.open().await;
    assert_eq!(store.replays().await.unwrap(), [full, plain]);
    assert!(store.configuration().await.unwrap().id_floor >= 901, "its id is not given out again");
}

pub async fn putting_a_replay_again_replaces_it(harness: &dyn Harness) {
    let store = harness.open().await;
    put(&*store, &replay(900, ReplayState::Running)).await;
    let later = Replay { done: 10, ..replay(900, ReplayState::Cancelled) };
    put(&*store, &later).await;
    assert_eq!(store.replays().await.unwrap(), [later]);
}

pub async fn ended_replays_are_forgotten_in_the_end(harness: &dyn Harness) {
    let store = harness.open().await;
    let running = replay(1, ReplayState::Running);
    let others = Replay { account: AccountId::from_u64(999), ..replay(2, ReplayState::Done) };
    put(&*store, &running).await;
    put(&*store, &others).await;
    let last = 10 + REPLAYS_ENDED_MAX as u64;
    for id in 10..=last {
        put(&*store, &replay(id, ReplayState::Done)).await;
    }
    let kept = store.replays().await.unwrap();
    assert_eq!(kept[..2], [running, others]);
    let kept: Vec<u64> = kept[2..].iter().map(|found| found.id.as_u64()).collect();
    assert_eq!(kept, (11..=last).collect::<Vec<_>>());
}
