//! What two nodes on one database hear of each other.

use crate::{named, opened};
use postrider_core::id::{AccountId, ReplayId};
use postrider_core::time::Timestamp;
use postrider_postgres::testing::Server;
use postrider_store::{
    Batch, DeadLetterFilter, Gained, Mail, News, Replay, ReplayState, Shards, Store, StoreError,
};
use std::sync::Arc;
use std::time::Duration;

/// Long enough that nothing here comes from a lease being renewed.
const LEASE: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(15);

/// The next news that are asked for; the others are passed over.
async fn hear<T>(store: &dyn Store, mut wanted: impl FnMut(&News) -> Option<T>) -> T {
    let next = async {
        loop {
            if let Some(found) = wanted(&store.news().await) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, next).await.expect("it is heard well within the lease")
}

fn gained(news: &News) -> Option<Gained> {
    if let News::Gained(gained) = news { Some(gained.clone()) } else { None }
}

fn wanted(news: &News) -> Option<Shards> {
    if let News::Wanted(shards) = news { Some(*shards) } else { None }
}

#[tokio::test]
async fn shards_change_hands_at_once_when_a_node_joins_and_when_it_leaves() {
    let url = Server::shared().database();
    let first = opened(&url, LEASE).await;
    assert_eq!(hear(&first, gained).await.shards, Shards::ALL);
    let second = opened(&url, LEASE).await;
    let surplus = hear(&first, wanted).await;
    assert_eq!(surplus.len(), 32);
    first.hand_over(surplus).await.unwrap();
    let taken = hear(&second, gained).await;
    assert_eq!((taken.shards, taken.clean), (surplus, surplus));
    second.close().await.unwrap();
    assert_eq!(hear(&first, gained).await.shards, surplus);
}

#[tokio::test]
async fn what_has_no_member_to_its_owner_is_taken_by_the_next() {
    let url = Server::shared().database();
    opened(&url, LEASE).await.close().await.unwrap();
    Server::shared().ask(&url, "UPDATE shards SET owner = 7, incarnation = 1, clean = false");
    let next = opened(&url, LEASE).await;
    let taken = hear(&next, gained).await;
    assert_eq!((taken.shards, taken.clean), (Shards::ALL, Shards::NONE));
}

#[tokio::test]
async fn nodes_that_leave_at_once_leave_nothing_owned() {
    let url = Server::shared().database();
    for round in 0..20 {
        let (one, other) = tokio::join!(opened(&url, LEASE), opened(&url, LEASE));
        let (left, too) = tokio::join!(one.close(), other.close());
        left.and(too).unwrap();
        let owned = Server::shared().ask(&url, "SELECT count(*) FROM shards WHERE owner IS NOT NULL");
        assert_eq!(owned, "0", "round {round}");
    }
}

#[tokio::test]
async fn the_number_of_a_dead_node_is_for_nobody_else_for_a_while() {
    let url = Server::shared().database();
    let first = named(&url, Duration::from_secs(3), "first").await;
    assert_eq!(first.configuration().await.unwrap().node, 0);
    let dies = "WITH gone AS (DELETE FROM members RETURNING node, incarnation, name, last_batch)
         INSERT INTO departed SELECT *, now() FROM gone";
    Server::shared().ask(&url, dies);
    let second = named(&url, LEASE, "second").await;
    assert_eq!(second.configuration().await.unwrap().node, 1, "the first may still make ids");
    let numbered = |news: &News| if let News::Numbered(node) = news { Some(*node) } else { None };
    assert_eq!(hear(&first, numbered).await, 0, "it has its own again");
}

#[tokio::test]
async fn a_batch_of_a_node_that_was_taken_for_dead_is_told_as_fenced() {
    let url = Server::shared().database();
    let node = opened(&url, LEASE).await;
    node.commit(Arc::new(Batch::default())).await.unwrap();
    Server::shared().ask(&url, "DELETE FROM members");
    let told = node.commit(Arc::new(Batch::default())).await;
    assert!(matches!(told, Err(StoreError::Fenced)), "{told:?}");
}

#[tokio::test]
async fn a_node_whose_number_was_given_away_hears_of_another() {
    let url = Server::shared().database();
    let first = named(&url, Duration::from_secs(3), "first").await;
    assert_eq!(first.configuration().await.unwrap().node, 0);
    // As if another of its name had been faster to take it than itself.
    Server::shared().ask(&url, "UPDATE members SET incarnation = incarnation + 1, lease_until = 'infinity'");
    let numbered = |news: &News| if let News::Numbered(node) = news { Some(*node) } else { None };
    assert_eq!(hear(&first, numbered).await, 1);
}

#[tokio::test]
async fn what_was_wanted_of_an_earlier_life_is_not_handed_over_by_the_next() {
    let url = Server::shared().database();
    let first = opened(&url, Duration::from_secs(3)).await;
    let second = opened(&url, LEASE).await;
    let surplus = hear(&first, wanted).await;
    second.close().await.unwrap();
    let dies = "DELETE FROM members; UPDATE shards SET owner = NULL, incarnation = NULL, clean = false";
    Server::shared().ask(&url, dies);
    hear(&first, |news| matches!(news, News::Lost(_)).then_some(())).await;
    assert_eq!(hear(&first, gained).await.shards, Shards::ALL);
    first.hand_over(surplus).await.unwrap();
    let free = "SELECT count(*) FROM shards WHERE owner IS NULL";
    assert_eq!(Server::shared().ask(&url, free), "0");
}

fn replay(state: ReplayState, done: u64) -> Replay {
    let now = Timestamp::from_unix_ms(1_768_464_000_000);
    Replay {
        id: ReplayId::from_u64(900),
        account: AccountId::from_u64(1),
        filter: DeadLetterFilter::default(),
        rate_per_second: None,
        state,
        total: 10,
        done,
        skipped: 0,
        created_at: now,
        updated_at: now,
        ended_at: None,
    }
}

#[tokio::test]
async fn a_replay_that_was_paused_elsewhere_stays_so_and_its_owner_hears_of_it() {
    let url = Server::shared().database();
    let (owner, other) = (opened(&url, LEASE).await, opened(&url, LEASE).await);
    owner.put_replay(replay(ReplayState::Running, 0)).await.unwrap();
    other.put_replay(replay(ReplayState::Paused, 0)).await.unwrap();
    let noted = owner.note_replay(replay(ReplayState::Running, 4)).await.unwrap().unwrap();
    assert_eq!((noted.state, noted.done), (ReplayState::Paused, 4));
    other.put_replay(replay(ReplayState::Running, 0)).await.unwrap();
    let noted = owner.note_replay(replay(ReplayState::Done, 10)).await.unwrap().unwrap();
    assert_eq!((noted.state, noted.done), (ReplayState::Done, 10));
    let id = ReplayId::from_u64(900);
    let told = |news: &News| matches!(news, News::Mail(Mail::Replay(told)) if *told == id).then_some(());
    hear(&owner, told).await;
}
