//! A gateway with one tenant and one source, as every test here begins with.

use crate::wait::{PATIENCE, wait_until};
use bytes::Bytes;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_core::time::Timestamp;
use postrider_engine::send::{AddressGuard, Connector, Resolve, SystemResolver};
use postrider_engine::{Accepted, Activity, Arrival, Engine, EngineOptions, IngestError, Trial, TrialReport};
use postrider_store::{
    Account, Attempt, Change, DeliveryState, Destination, EventDetail, MemoryStore, Route, Source, Store,
};
use rustls::ClientConfig;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Of the published test vectors.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What a gateway is started with.
pub(crate) struct Setup {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) guard: AddressGuard,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) options: EngineOptions,
}

impl Default for Setup {
    /// In memory, with loopback open and nobody's certificate trusted.
    fn default() -> Self {
        let loopback = ["127.0.0.0/8", "::1/128"].map(|range| range.parse().unwrap());
        Setup {
            store: Arc::new(MemoryStore::new()),
            guard: AddressGuard::new(loopback.to_vec()),
            tls: crate::tls_receiver::trusting(&[]),
            resolver: Arc::new(SystemResolver),
            options: EngineOptions::default(),
        }
    }
}

/// A running gateway. Dropping it without a stop is a crash, except that requests under way go on.
pub(crate) struct Gateway {
    pub(crate) engine: Arc<Engine>,
    pub(crate) source: Arc<Source>,
}

impl Setup {
    /// Starts a gateway, with the tenant that an earlier one left in the store or a new one.
    pub(crate) async fn start(self) -> Gateway {
        let connector = Arc::new(Connector::new(self.guard, self.tls).resolving_by(self.resolver));
        let (engine, workers) = Engine::start(self.store, connector, self.options).await.unwrap();
        for worker in workers {
            tokio::spawn(worker.run());
        }
        let known = engine.catalog().accounts().first().map(|account| account.id);
        let source = match known {
            Some(account) => engine.catalog().sources(account).remove(0),
            None => new_tenant(&engine).await,
        };
        Gateway { engine, source }
    }
}

async fn new_tenant(engine: &Arc<Engine>) -> Arc<Source> {
    let created_at = engine.clock().now();
    let account = Account::new(AccountId::from_u64(engine.next_id()), "tenant".into(), created_at);
    let id = SourceId::from_u64(engine.next_id());
    let source = Source::new(id, account.id, "source".into(), "token".into(), created_at);
    change(engine, vec![Change::PutAccount(account), Change::PutSource(source.clone())]).await;
    Arc::new(source)
}

pub(crate) async fn change(engine: &Arc<Engine>, changes: Vec<Change>) {
    let made = engine.change(|_| Ok::<_, Infallible>((changes, ())));
    let made = tokio::time::timeout(PATIENCE, made).await.expect("a change is made or refused");
    made.unwrap_or_else(|error| panic!("a change was not made: {error:?}"));
}

/// An event with this body and nothing else.
pub(crate) fn arrival(body: impl Into<Bytes>) -> Arrival {
    Arrival {
        event_type: None,
        external_id: None,
        external_scope: None,
        headers: Default::default(),
        body: body.into(),
        window: Default::default(),
        priority: None,
    }
}

/// The same delay after each of so many attempts, not spread.
pub(crate) fn every(delay: Duration, attempts: u64) -> RetryPolicy {
    RetryPolicy::new(Schedule::Delays(vec![delay]), Some(attempts), None, Jitter::None).unwrap()
}

impl Gateway {
    /// On a store of its own, free to dial this machine.
    pub(crate) async fn start() -> Self {
        Setup::default().start().await
    }

    /// A destination that is not configured yet. What fails stays failed: the retry is an hour away.
    pub(crate) fn destination(&self, url: &str) -> Destination {
        let id = DestinationId::from_u64(self.engine.next_id());
        let (account, name) = (self.source.account, "destination".to_owned());
        Destination {
            retry_policy: Some(every(Duration::from_secs(3600), 10)),
            ..Destination::new(id, account, name, url.to_owned(), SECRET.into(), Timestamp::ZERO)
        }
    }

    /// Makes or changes a destination.
    pub(crate) async fn put(&self, destination: &Destination) {
        change(&self.engine, vec![Change::PutDestination(Box::new(destination.clone()))]).await;
    }

    /// Makes a destination and a route to it for the types that a pattern takes.
    pub(crate) async fn route(&self, pattern: &str, destination: &Destination) {
        let route = Route {
            pattern: EventPattern::parse(pattern).unwrap(),
            ..Route::new(
                RouteId::from_u64(self.engine.next_id()),
                self.source.account,
                destination.id,
                Timestamp::ZERO,
            )
        };
        let changes = vec![Change::PutDestination(Box::new(destination.clone())), Change::PutRoute(route)];
        change(&self.engine, changes).await;
    }

    /// All events go to this URL.
    pub(crate) async fn deliver_to(&self, url: &str) -> Destination {
        let destination = self.destination(url);
        self.route("**", &destination).await;
        destination
    }

    pub(crate) async fn ingest(&self, arrival: &Arrival) -> Result<Accepted, IngestError> {
        let answer = self.engine.ingest(&self.source, arrival.clone());
        tokio::time::timeout(PATIENCE, answer).await.expect("an event is accepted or refused")
    }

    pub(crate) async fn accept(&self, body: impl Into<Bytes>) -> EventId {
        self.ingest(&arrival(body)).await.unwrap().id
    }

    pub(crate) async fn accept_typed(&self, event_type: &str) -> EventId {
        let event_type = Some(EventType::parse(event_type).unwrap());
        self.ingest(&Arrival { event_type, ..arrival("{}") }).await.unwrap().id
    }

    pub(crate) async fn detail(&self, event: EventId) -> EventDetail {
        self.engine.event(self.source.account, event).await.unwrap().unwrap()
    }

    /// The event, once so many attempts are recorded and none is under way.
    pub(crate) async fn attempted(&self, event: EventId, attempts: usize) -> EventDetail {
        wait_until(&format!("{attempts} attempts are recorded"), async || {
            let detail = self.detail(event).await;
            let under_way = detail.deliveries.iter().any(|found| found.status == DeliveryStatus::Delivering);
            (detail.attempts.len() >= attempts && !under_way).then_some(detail)
        })
        .await
    }

    /// The first attempt, once it is recorded.
    pub(crate) async fn attempt(&self, event: EventId) -> Attempt {
        self.attempted(event, 1).await.attempts.remove(0)
    }

    /// The event, once all that was owed for it is delivered or given up on.
    pub(crate) async fn settled(&self, event: EventId) -> EventDetail {
        wait_until("an event is settled", async || {
            let detail = self.detail(event).await;
            let settled = |status| matches!(status, DeliveryStatus::Delivered | DeliveryStatus::DeadLetter);
            detail.deliveries.iter().all(|found| settled(found.status)).then_some(detail)
        })
        .await
    }

    /// Fails unless everything owed for the event is delivered, each at its first attempt.
    pub(crate) async fn delivered_at_once(&self, event: EventId) {
        let detail = wait_until("all that is owed for an event is attempted", async || {
            let detail = self.detail(event).await;
            let attempted =
                |found: &DeliveryState| found.attempts > 0 && found.status != DeliveryStatus::Delivering;
            detail.deliveries.iter().all(attempted).then_some(detail)
        })
        .await;
        for delivery in &detail.deliveries {
            let problems: Vec<_> = detail.attempts.iter().map(|attempt| &attempt.problem).collect();
            assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Delivered, 1), "{problems:?}");
        }
    }

    /// One event for this destination alone, sent at once.
    pub(crate) async fn try_out(&self, destination: &Destination) -> TrialReport {
        let event_type = EventType::parse("test").unwrap();
        let trial = Trial { event_type, body: Bytes::from_static(b"{}"), content_type: "application/json" };
        self.engine.try_out(self.source.account, destination.id, trial).await.unwrap()
    }

    pub(crate) async fn activity(&self) -> Activity {
        let own = self.engine.catalog().destinations(self.source.account);
        self.engine.activity_of(own.iter().map(|found| found.id).collect()).await.unwrap()
    }
}
