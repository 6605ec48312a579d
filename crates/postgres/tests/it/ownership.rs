//! What two nodes on one database hear of each other.

use crate::{named, opened, owed};
use bytes::Bytes;
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::id::{AccountId, AttemptId, DestinationId, ReplayId};
use postrider_core::outcome::{DeathReason, Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_postgres::testing::Server;
use postrider_store::{
    Attempt, Batch, Change, DeadLetterFilter, Destination, Finished, Gained, GivenUp, Idempotency, Mail,
    NewEvent, News, Replay, ReplayState, Shards, Start, Store, StoreError, Timing,
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
    first.hand_over(surplus, surplus).await.unwrap();
    let taken = hear(&second, gained).await;
    assert_eq!((taken.shards, taken.clean), (surplus, surplus));
    second.close().await.unwrap();
    assert_eq!(hear(&first, gained).await.shards, surplus);
}

#[tokio::test]
async fn shards_that_wait_for_requests_of_a_dead_owner_do_so_with_their_next_owner() {
    let url = Server::shared().database();
    let first = opened(&url, LEASE).await;
    let second = opened(&url, LEASE).await;
    let surplus = hear(&first, wanted).await;
    let clean: Shards = surplus.iter().take(10).collect();
    first.hand_over(surplus, clean).await.unwrap();
    let taken = hear(&second, gained).await;
    assert_eq!((taken.shards, taken.clean), (surplus, clean));
}

#[tokio::test]
async fn a_node_hears_that_shards_are_not_its_own_any_more_however_they_went() {
    let url = Server::shared().database();
    let first = opened(&url, Duration::from_secs(3)).await;
    assert_eq!(hear(&first, gained).await.shards, Shards::ALL);
    Server::shared().ask(&url, "UPDATE shards SET owner = NULL, incarnation = NULL WHERE shard < 3");
    let lost = hear(&first, |news| if let News::Lost(shards) = news { Some(*shards) } else { None }).await;
    assert_eq!(lost, Shards::from_bits(0b111));
    assert_eq!(hear(&first, gained).await.shards, lost, "nobody else has taken them");
}

#[tokio::test]
async fn a_circuit_is_noted_by_its_owner_alone() {
    let url = Server::shared().database();
    let first = opened(&url, LEASE).await;
    assert_eq!(hear(&first, gained).await.shards, Shards::ALL);
    let second = opened(&url, LEASE).await;
    let id = DestinationId::from_u64(40);
    let destination = Destination::new(
        id,
        AccountId::from_u64(1),
        "destination".into(),
        "http://127.0.0.1:1/".into(),
        "secret".into(),
        Timestamp::ZERO,
    );
    first.configure(vec![Change::PutDestination(Box::new(destination))]).await.unwrap();
    let record = |trips| CircuitRecord { circuit: Circuit::HalfOpen, trips };
    let noted = async || first.configuration().await.unwrap().circuits;
    first.keep_circuits(vec![(id, record(1))]).await.unwrap();
    assert_eq!(noted().await, [(id, record(1))]);
    second.keep_circuits(vec![(id, record(2))]).await.unwrap();
    assert_eq!(noted().await, [(id, record(1))], "what it knows of it is of another time");
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
    let numbered = |news: &News| if let News::NewLife { node, .. } = news { Some(*node) } else { None };
    assert_eq!(hear(&first, numbered).await, 0, "it has its own again");
}

#[tokio::test]
async fn a_stop_is_counted_once_however_many_nodes_see_it_and_is_told_to_each_next_owner() {
    let url = Server::shared().database();
    let dies = opened(&url, LEASE).await;
    dies.commit(Arc::new(Batch { events: vec![event(100)], ..Batch::default() })).await.unwrap();
    let start = Start::of(&event(100).tickets().next().unwrap(), 0);
    dies.commit(Arc::new(Batch { starts: vec![start], ..Batch::default() })).await.unwrap();
    drop(dies);
    Server::shared().ask(&url, "DELETE FROM members");
    let (one, two, three) = tokio::join!(opened(&url, LEASE), opened(&url, LEASE), opened(&url, LEASE));
    let counted = || Server::shared().ask(&url, "SELECT DISTINCT unclean_stops FROM shards");
    assert_eq!(counted(), "1");
    let told = Start { stops: 1, ..start };
    assert_eq!(one.interrupted_starts().await.unwrap(), [told]);
    for node in [one, two, three] {
        node.close().await.unwrap();
    }
    let next = opened(&url, LEASE).await;
    assert_eq!(hear(&next, gained).await.starts, [told], "it was not begun again before it was handed over");
    assert_eq!(counted(), "1");
}

/// An event that is owed to a destination, with a key of its own.
fn event(id: u64) -> NewEvent {
    let key = Idempotency { key_hash: u128::from(id).to_be_bytes(), body_hash: [0; 16] };
    NewEvent { idempotency: Some(key), ..owed(id, Timestamp::from_unix_ms(1_768_464_000_000)) }
}

/// What became of the delivery of an event.
fn finished(event: &NewEvent, next: Next) -> Finished {
    let ticket = event.tickets().next().unwrap();
    let outcome = if next == Next::Delivered { Outcome::Success } else { Outcome::Http5xx };
    let attempt = Attempt {
        id: AttemptId::from_u64(ticket.delivery.as_u64() + 1),
        delivery: ticket.delivery,
        event: ticket.event,
        destination: ticket.line.destination,
        number: 1,
        started_at: ticket.due,
        outcome,
        status: None,
        request_headers: Default::default(),
        response_headers: Default::default(),
        response_body: Bytes::new(),
        problem: None,
        timing: Timing::default(),
        next,
    };
    Finished { account: event.content.account, ticket, attempt, blocks_line: false }
}

/// All rows of the tables that a batch writes, but for letters, which do not stay.
fn written(url: &str) -> Vec<String> {
    let tables = ["events", "attempts", "queue", "dead_letters", "idempotency", "stats", "starts"];
    let all = |table| format!("SELECT t FROM {table} t ORDER BY t::text");
    tables.iter().map(|table| Server::shared().ask(url, &all(table))).collect()
}

#[tokio::test]
async fn a_batch_of_a_node_that_was_taken_for_dead_is_told_as_fenced() {
    let url = Server::shared().database();
    let node = opened(&url, LEASE).await;
    let owed: Vec<NewEvent> = [100, 200, 300, 400].map(event).into();
    node.commit(Arc::new(Batch { events: owed.clone(), ..Batch::default() })).await.unwrap();
    let dead = Next::Dead(DeathReason::Attempts);
    let retry = Next::Retry { due: Timestamp::from_unix_ms(1_768_464_060_000) };
    let nexts = [Next::Delivered, retry, dead];
    let given_up = GivenUp {
        account: owed[3].content.account,
        ticket: owed[3].tickets().next().unwrap(),
        reason: DeathReason::Expired,
        last_error: None,
        died_at: Timestamp::from_unix_ms(1_768_464_060_000),
        blocks_line: false,
    };
    let batch = Arc::new(Batch {
        events: vec![event(500)],
        finished: owed.iter().zip(nexts).map(|(event, next)| finished(event, next)).collect(),
        given_up: vec![given_up],
        starts: vec![Start::of(&owed[0].tickets().next().unwrap(), 0)],
        ends: vec![Start::of(&owed[1].tickets().next().unwrap(), 0)],
        own: Shards::NONE,
        life: 0,
    });
    Server::shared().ask(&url, "DELETE FROM members");
    let before = written(&url);
    let told = node.commit(Arc::clone(&batch)).await;
    assert_eq!(written(&url), before, "it changed rows");
    assert_eq!(Server::shared().ask(&url, "SELECT count(*) FROM mail"), "0", "it wrote a letter");
    assert!(matches!(told, Err(StoreError::Fenced)), "{told:?}");
    // Of one that is alive, the same batch changes every one of these tables.
    named(&url, LEASE, "alive").await.commit(batch).await.unwrap();
    let unchanged = written(&url).iter().zip(&before).filter(|(now, before)| now == before).count();
    assert_eq!(unchanged, 0, "{before:#?}");
}

#[tokio::test]
async fn what_was_made_before_a_node_was_taken_for_dead_is_not_written_in_its_next_life() {
    let url = Server::shared().database();
    let node = opened(&url, Duration::from_secs(3)).await;
    let batch = |life| Arc::new(Batch { events: vec![event(100)], life, ..Batch::default() });
    Server::shared().ask(&url, "DELETE FROM members");
    let next = |news: &News| if let News::NewLife { life, .. } = news { Some(*life) } else { None };
    let life = hear(&node, next).await;
    let before = written(&url);
    let told = node.commit(batch(0)).await;
    assert!(matches!(told, Err(StoreError::Fenced)), "{told:?}");
    assert_eq!(written(&url), before, "it changed rows");
    node.commit(batch(life)).await.unwrap();
    assert_ne!(written(&url), before);
}

#[tokio::test]
async fn a_node_whose_number_was_given_away_hears_of_another() {
    let url = Server::shared().database();
    let first = named(&url, Duration::from_secs(3), "first").await;
    assert_eq!(first.configuration().await.unwrap().node, 0);
    // As if another of its name had been faster to take it than itself.
    Server::shared().ask(&url, "UPDATE members SET incarnation = incarnation + 1, lease_until = 'infinity'");
    let numbered = |news: &News| if let News::NewLife { node, .. } = news { Some(*node) } else { None };
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
    first.hand_over(surplus, surplus).await.unwrap();
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
