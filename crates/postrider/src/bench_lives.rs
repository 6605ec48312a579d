//! What `bench --database-url` measures: nodes of the store that live whole lives of events, as the dispatcher has them
//! but without HTTP. What is accepted goes into one commit with the outcomes of what was accepted before; what another
//! node owns reaches it by mail.

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::future::try_join_all;
use postrider_bench::LifeOrder;
use postrider_core::delivery::{Line, Priority, Ticket};
use postrider_core::id::{
    AccountId, AttemptId, DeliveryId, DestinationId, EventId, IdGenerator, RouteId, SourceId,
};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::outcome::{Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_postgres::{PostgresOptions, PostgresStore};
use postrider_store::{
    Attempt, Batch, EventContent, Finished, LineDepth, Mail, NewDelivery, NewEvent, News, Origin, SendWindow,
    Shard, Shards, Store, Timing,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const ACCOUNT: AccountId = AccountId::from_u64(1);
/// Long, since no node dies here.
const LEASE: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_millis(20);
/// Of the destinations: any number, but the same for all nodes.
const FIRST_DESTINATION: u64 = 1 << 40;
/// A destination whose deliveries nobody finishes.
const SLEEPER: u64 = 1 << 39;

/// Lives as many lives as are ordered.
pub(crate) fn live(order: &LifeOrder) -> anyhow::Result<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(live_on_nodes(order))
}

async fn live_on_nodes(order: &LifeOrder) -> anyhow::Result<Duration> {
    let mut nodes = Vec::new();
    for number in 0..order.nodes {
        nodes.push(Node::open(order, number).await?);
    }
    let even = u32::from(Shard::COUNT) / u32::from(order.nodes);
    while nodes.iter().any(|node| node.own.len().abs_diff(even) > 1) {
        for node in &mut nodes {
            node.hear().await?;
        }
    }
    let (done, begun) = (AtomicU64::new(0), Instant::now());
    try_join_all(nodes.iter_mut().map(|node| node.live(&done, order.events))).await?;
    let took = begun.elapsed();
    for node in nodes {
        node.store.close().await?;
    }
    Ok(took)
}

struct Node {
    store: PostgresStore,
    own: Shards,
    life: u64,
    ids: IdGenerator,
    /// Still to be accepted.
    left: u64,
    pending: u64,
    destinations: u64,
    batch: usize,
    body: Bytes,
    /// Attempts that are over and not recorded.
    over: Vec<Ticket>,
    in_hand: IdSet<DeliveryId>,
    accepted: u64,
}

impl Node {
    async fn open(order: &LifeOrder, number: u8) -> anyhow::Result<Self> {
        let options = PostgresOptions {
            node_name: format!("bench-{number}"),
            lease: LEASE,
            ..PostgresOptions::default()
        };
        let store = PostgresStore::open(&order.url, None, options).await?;
        let configuration = store.configuration().await?;
        let part = |all: u64| {
            let each = all / u64::from(order.nodes);
            each + u64::from(u64::from(number) < all % u64::from(order.nodes))
        };
        Ok(Node {
            store,
            own: Shards::NONE,
            life: 0,
            ids: IdGenerator::new(configuration.node, configuration.id_floor),
            left: part(order.events),
            pending: part(order.pending),
            destinations: order.destinations,
            batch: order.batch.into(),
            body: Bytes::from(vec![b'x'; usize::try_from(order.size_bytes)?]),
            over: Vec::new(),
            in_hand: IdSet::default(),
            accepted: 0,
        })
    }

    /// Accepts its part, and records the end of what it owns until all nodes together have recorded all.
    async fn live(&mut self, done: &AtomicU64, events: u64) -> anyhow::Result<()> {
        while self.pending > 0 || done.load(Ordering::Relaxed) < events {
            if self.left == 0 && self.pending == 0 && self.over.is_empty() {
                self.hear().await?;
                continue;
            }
            let recorded = self.commit().await?;
            done.fetch_add(recorded, Ordering::Relaxed);
            self.hear_what_is_there().await?;
        }
        Ok(())
    }

    /// One commit: new events, and the ends of attempts.
    async fn commit(&mut self) -> anyhow::Result<u64> {
        let now = wall_clock();
        let finished: Vec<Finished> = {
            let count = self.over.len().min(self.batch);
            let over: Vec<Ticket> = self.over.drain(..count).collect();
            over.into_iter().map(|ticket| self.finished(ticket, now)).collect()
        };
        let sleeping = self.left == 0;
        let left = if sleeping { &mut self.pending } else { &mut self.left };
        let count = usize::try_from(*left)?.min(self.batch);
        *left -= count as u64;
        let events: Vec<NewEvent> = (0..count)
            .map(|_| {
                let to = if sleeping { SLEEPER } else { self.next_destination() };
                self.event(now, DestinationId::from_u64(to))
            })
            .collect();
        let batch = Arc::new(Batch { events, finished, own: self.own, life: self.life, ..Batch::default() });
        self.store.commit(Arc::clone(&batch)).await.context("a commit failed")?;
        for ended in &batch.finished {
            self.in_hand.remove(&ended.ticket.delivery);
        }
        let owed = batch.events.iter().flat_map(NewEvent::tickets);
        let own = self.own;
        self.take(owed.filter(|ticket| own.own(ticket.line.destination)).collect());
        Ok(batch.finished.len() as u64)
    }

    /// An attempt is made, which takes no time here.
    fn take(&mut self, tickets: Vec<Ticket>) {
        for ticket in tickets {
            let sleeper = ticket.line.destination == DestinationId::from_u64(SLEEPER);
            if !sleeper && self.in_hand.insert(ticket.delivery) {
                self.over.push(ticket);
            }
        }
    }

    async fn hear(&mut self) -> anyhow::Result<()> {
        if let Ok(news) = tokio::time::timeout(WAIT, self.store.news()).await {
            let lines = self.heed(news).await?;
            self.load(lines).await?;
            self.hear_what_is_there().await?;
        }
        Ok(())
    }

    async fn hear_what_is_there(&mut self) -> anyhow::Result<()> {
        let mut lines = Vec::new();
        while let Ok(news) = tokio::time::timeout(Duration::ZERO, self.store.news()).await {
            lines.extend(self.heed(news).await?);
        }
        self.load(lines).await
    }

    /// Gives the lines in which something has arrived.
    async fn heed(&mut self, news: News) -> anyhow::Result<Vec<LineDepth>> {
        match news {
            News::Gained(gained) => {
                self.own = self.own.and(gained.shards);
                return Ok(gained.lines);
            }
            News::Wanted(shards) => {
                self.own = self.own.without(shards);
                self.store.hand_over(shards, shards).await?;
            }
            News::Lost(_) => {
                anyhow::bail!("a node was taken over; the machine is too busy for a lease of {LEASE:?}")
            }
            News::NewLife { node, life } => {
                self.ids.renumber(node);
                self.life = life;
            }
            News::Mail(Mail::Arrived(depth)) => return Ok(vec![depth]),
            News::Mail(_) | News::Lease(_) | News::Configured(..) => {}
        }
        Ok(Vec::new())
    }

    /// Reads what another node has accepted for lines of ours, beside each other as the dispatcher does.
    async fn load(&mut self, depths: Vec<LineDepth>) -> anyhow::Result<()> {
        let mut rows: IdMap<DestinationId, (Line, u64)> = IdMap::default();
        for LineDepth { line, rows: more, .. } in depths {
            rows.entry(line.destination).or_insert((line, 0)).1 += more;
        }
        rows.remove(&DestinationId::from_u64(SLEEPER));
        // What is in hand is still in the line, before what is new.
        let in_hand = self.in_hand.len();
        let pages = rows.values().map(|(line, rows)| {
            let limit = in_hand + usize::try_from(*rows).unwrap_or(usize::MAX - in_hand);
            self.store.load(*line, limit)
        });
        let pages = try_join_all(pages).await?;
        pages.into_iter().for_each(|page| self.take(page.tickets));
        Ok(())
    }

    /// One after the other.
    fn next_destination(&mut self) -> u64 {
        self.accepted += 1;
        // Ids of one node differ above the ten bits that name it.
        FIRST_DESTINATION + self.accepted % self.destinations * 1024
    }

    fn event(&mut self, now: Timestamp, destination: DestinationId) -> NewEvent {
        let event = EventId::from_u64(self.ids.next(now));
        let delivery = NewDelivery {
            id: DeliveryId::from_u64(self.ids.next(now)),
            destination,
            route: RouteId::from_u64(3),
            priority: Priority::Normal,
            order: None,
        };
        let content = EventContent {
            account: ACCOUNT,
            origin: Origin::Source(SourceId::from_u64(2)),
            headers: [("content-type", "application/json")].into_iter().collect(),
            body: self.body.clone(),
            event_type: None,
            received_at: now,
            window: SendWindow::default(),
            replay_of: None,
        };
        NewEvent {
            id: event,
            external_id: None,
            content: Arc::new(content),
            idempotency: None,
            deliveries: vec![delivery],
        }
    }

    fn finished(&mut self, ticket: Ticket, now: Timestamp) -> Finished {
        let attempt = Attempt {
            id: AttemptId::from_u64(self.ids.next(now)),
            delivery: ticket.delivery,
            event: ticket.event,
            destination: ticket.line.destination,
            number: ticket.attempts + 1,
            started_at: now,
            outcome: Outcome::Success,
            status: Some(200),
            request_headers: Default::default(),
            response_headers: Default::default(),
            response_body: Bytes::new(),
            problem: None,
            timing: Timing { total: Duration::from_millis(1), ..Timing::default() },
            next: Next::Delivered,
        };
        Finished { account: ACCOUNT, ticket, attempt, blocks_line: false }
    }
}

fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
