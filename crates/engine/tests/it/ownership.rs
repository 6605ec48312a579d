//! A node among others: what it owns comes and goes while attempts, commits and pages are under way.

use crate::gateway::{Gateway, Setup, arrival, every};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use postrider_core::destination::{MaxConcurrency, RateLimit, TimeoutSeconds};
use postrider_core::id::EventId;
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_store::{Batch, Change, Gained, GivenUp, News, Shard, Shards, Store, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// What must not happen would have happened by then.
const EARLY: Duration = Duration::from_millis(300);

struct Node {
    gateway: Gateway,
    store: Arc<SwitchedStore>,
    news: UnboundedSender<News>,
}

impl Node {
    /// One that owns nothing yet.
    async fn start() -> Self {
        let (store, news) = SwitchedStore::shared();
        let gateway = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() }.start().await;
        let node = Node { gateway, store, news };
        node.tell(News::Lease(Instant::now() + Duration::from_secs(3600)));
        node
    }

    fn tell(&self, news: News) {
        self.news.send(news).unwrap();
    }

    /// All shards, of which these were left in order.
    async fn gain(&self, clean: Shards) {
        let lines = self.store.lines().await.unwrap();
        self.tell(News::Gained(Gained { shards: Shards::ALL, clean, lines, ..Gained::default() }));
    }

    /// Everything, and it has heard so.
    async fn own_all(&self) {
        self.gain(Shards::ALL).await;
        self.until_own(Shards::ALL).await;
    }

    /// Nothing any more, since it was taken for dead, and it has heard so.
    async fn lose_all(&self) {
        self.tell(News::Lost(Shards::ALL));
        self.tell(News::NewLife { node: 7, life: 1 });
        self.until_own(Shards::NONE).await;
    }

    async fn until_own(&self, shards: Shards) {
        wait_until(&format!("it owns {shards:?}"), async || {
            (self.gateway.engine.queue().await.totals.shards == shards).then_some(())
        })
        .await;
    }

    async fn until_handed_over(&self) -> (Shards, Shards) {
        wait_until("shards are handed over", async || self.store.handed_over().first().copied()).await
    }
}

#[tokio::test]
async fn shards_that_wait_for_requests_of_a_dead_owner_are_handed_over_as_such() {
    let node = Node::start().await;
    let mut destination = node.gateway.destination("http://127.0.0.1:1/");
    destination.max_concurrency = MaxConcurrency::new(1).unwrap();
    destination.timeout = TimeoutSeconds::new(60).unwrap();
    node.gateway.put(&destination).await;
    node.gain(Shards::NONE).await;
    node.tell(News::Wanted(Shards::ALL));
    let waits = Shards::NONE.with(Shard::of(destination.id));
    assert_eq!(node.until_handed_over().await, (Shards::ALL, Shards::ALL.without(waits)));
}

#[tokio::test]
async fn shards_are_handed_over_when_what_was_accepted_for_them_is_on_disk() {
    let receiver = Receiver::answering([OK]).await;
    let node = Node::start().await;
    node.gateway.deliver_to(&receiver.url()).await;
    node.own_all().await;
    node.store.commits.send_replace(Switch::Hangs);
    let accepting = node.gateway.engine.ingest(&node.gateway.source, arrival("in a slow commit"));
    let handing_over = async {
        wait_until("a commit is under way", async || (node.store.begun() > 0).then_some(())).await;
        node.tell(News::Wanted(Shards::ALL));
        let early = tokio::time::timeout(EARLY, node.until_handed_over()).await;
        assert!(early.is_err(), "who took them over now would not find what is in the commit");
        node.store.commits.send_replace(Switch::Works);
    };
    let (accepted, ()) = tokio::join!(accepting, handing_over);
    accepted.unwrap();
    node.until_handed_over().await;
    assert_eq!(node.store.lines().await.unwrap().len(), 1, "it is there for the next owner");
}

#[tokio::test]
async fn an_outcome_that_was_written_before_its_shard_was_lost_is_followed_when_it_comes_back() {
    let receiver = Receiver::holding(BROKEN).await;
    let node = Node::start().await;
    let mut destination = node.gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::from_millis(10), 10));
    node.gateway.route("**", &destination).await;
    node.own_all().await;
    node.gateway.accept("fails at first").await;
    receiver.until_requests(1).await;
    node.store.commits.send_replace(Switch::Hangs);
    let begun = node.store.begun();
    receiver.release();
    wait_until("its outcome is on its way", async || (node.store.begun() > begun).then_some(())).await;
    node.lose_all().await;
    node.store.commits.send_replace(Switch::Works);
    wait_until("it is written", async || (node.store.finished().len() == 1).then_some(())).await;
    node.gain(Shards::ALL).await;
    receiver.until_requests(2).await;
}

/// When attempts of all that was received began, in order.
async fn begun(node: &Node, events: &[EventId]) -> Vec<Timestamp> {
    let mut begun = Vec::new();
    for event in events {
        begun.push(node.gateway.attempt(*event).await.started_at);
    }
    begun.sort();
    begun
}

#[tokio::test]
async fn what_waited_for_the_lease_keeps_to_the_rate_limit() {
    const EVENTS: usize = 3;
    let receiver = Receiver::answering([OK]).await;
    let node = Node::start().await;
    let mut destination = node.gateway.destination(&receiver.url());
    destination.rate_limit = RateLimit::new(1.0, Some(1)).ok();
    node.gateway.route("**", &destination).await;
    node.tell(News::Lease(Instant::now()));
    node.own_all().await;
    let mut events = Vec::new();
    for n in 0..EVENTS {
        events.push(node.gateway.accept(format!("{n}")).await);
    }
    wait_until("all of them have passed the limit and wait for the lease", async || {
        (node.gateway.activity().await.in_flight_events.len() == EVENTS).then_some(())
    })
    .await;
    assert!(receiver.requests().is_empty());
    node.tell(News::Lease(Instant::now() + Duration::from_secs(3600)));
    receiver.until_requests(EVENTS).await;
    let begun = begun(&node, &events).await;
    let took = begun[EVENTS - 1].since(begun[0]);
    // Two seconds, but for what the first was late by.
    assert!(took > Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn a_rate_limit_begins_spent_when_its_last_owner_was_cut_off() {
    let receiver = Receiver::answering([OK]).await;
    let node = Node::start().await;
    let mut destination = node.gateway.destination(&receiver.url());
    // So slow that none of it comes back meanwhile.
    destination.rate_limit = RateLimit::new(0.001, Some(2)).ok();
    node.gateway.route("**", &destination).await;
    node.own_all().await;
    for n in 0..2 {
        let event = node.gateway.accept(format!("{n}")).await;
        node.gateway.delivered_at_once(event).await;
    }
    node.lose_all().await;
    node.gateway.accept("over the limit").await;
    node.gain(Shards::NONE).await;
    wait_until("it waits for the limit", async || {
        let view = node.gateway.activity().await.destinations.get(&destination.id).copied()?;
        (view.pending.rows == 1 && view.why.as_str() == "rate_limit").then_some(())
    })
    .await;
    assert_eq!(receiver.requests().len(), 2);
}

#[tokio::test]
async fn a_page_of_before_shards_were_lost_brings_nothing_back() {
    let receiver = Receiver::answering([OK]).await;
    let node = Node::start().await;
    node.gateway.deliver_to(&receiver.url()).await;
    // Accepted while it was another's, so that it is read from the store.
    node.gateway.accept("sent by another meanwhile").await;
    let line = node.store.lines().await.unwrap()[0].line;
    let ticket = node.store.load(line, 1).await.unwrap().tickets[0];
    node.store.pages.send_replace(Switch::Hangs);
    let paged = node.store.paged();
    node.gain(Shards::ALL).await;
    wait_until("a page is on its way", async || (node.store.paged() > paged).then_some(())).await;
    node.lose_all().await;
    let account = node.gateway.source.account;
    let (reason, died_at) = (DeathReason::Expired, Timestamp::ZERO);
    let ended = GivenUp { account, ticket, reason, last_error: None, died_at, blocks_line: false };
    node.store.commit(Arc::new(Batch { given_up: vec![ended], ..Batch::default() })).await.unwrap();
    node.own_all().await;
    node.store.pages.send_replace(Switch::Works);
    node.gateway.accept("sent by this node").await;
    let came = receiver.until_requests(1).await;
    assert_eq!(came[0].body, b"sent by this node");
}

#[tokio::test]
async fn what_a_deleted_destination_was_owed_is_given_up_on_by_its_owner_whoever_deleted_it() {
    let node = Node::start().await;
    let destination = node.gateway.deliver_to("http://127.0.0.1:1/").await;
    node.gateway.accept("owed").await;
    node.own_all().await;
    let away = || StoreError::Unavailable("away".into());
    node.store.upkeep.send_replace(Switch::Fails(away));
    // The node that made the change died before it gave up on anything.
    node.tell(News::Configured(1, vec![Change::DeleteDestination(destination.id)]));
    wait_until("it is tried", async || (node.store.burials() > 0).then_some(())).await;
    node.store.upkeep.send_replace(Switch::Works);
    wait_until("nothing is owed", async || node.store.lines().await.unwrap().is_empty().then_some(())).await;
}
