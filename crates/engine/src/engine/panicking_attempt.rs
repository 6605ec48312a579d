//! A panic inside an attempt costs this attempt, and nothing else: neither its slot nor its worker nor its record. It is
//! planted (`send/attempt.rs`) in builds of these tests alone, for a body of `panic!` and the place.

use super::{Engine, EngineOptions};
use crate::ingest::Arrival;
use crate::send::{AddressGuard, Connector, tls_config};
use crate::traces::{SampleRatio, Spans};
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{AccountId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::Outcome;
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_core::time::Timestamp;
use postrider_store::{Account, Change, Destination, ErrorKind, EventDetail, MemoryStore, Route, Source};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(20);
const ATTEMPTS: u64 = 2;

/// Answers 200 to whatever comes, one connection each.
async fn receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
        }
    });
    url
}

/// An engine with one slot, and one destination for all events of the source.
async fn start(url: String) -> (Arc<Engine>, Arc<Source>) {
    let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap()]);
    let connector = Arc::new(Connector::new(guard, tls_config()));
    let store = Arc::new(MemoryStore::new());
    let options =
        EngineOptions { spans: Some(Spans::new(SampleRatio::default())), ..EngineOptions::new(1, 1) };
    let (engine, workers) = Engine::start(store, connector, options).await.unwrap();
    workers.into_iter().for_each(|worker| drop(tokio::spawn(worker.run())));
    let (account, source) = (AccountId::from_u64(1), SourceId::from_u64(2));
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned();
    let policy = Schedule::Delays(vec![Duration::from_millis(50)]);
    let policy = RetryPolicy::new(policy, Some(ATTEMPTS), None, Jitter::None).unwrap();
    let to = DestinationId::from_u64(3);
    let source = Source::new(source, account, "source".into(), "token".into(), Timestamp::ZERO);
    let destination = Destination {
        retry_policy: Some(policy),
        ..Destination::new(to, account, "destination".into(), url, secret, Timestamp::ZERO)
    };
    let changes = vec![
        Change::PutAccount(Account::new(account, "account".into(), Timestamp::ZERO)),
        Change::PutSource(source.clone()),
        Change::PutDestination(Box::new(destination)),
        Change::PutRoute(Route::new(RouteId::from_u64(4), account, to, Timestamp::ZERO)),
    ];
    engine.change(|_| Ok::<_, Infallible>((changes, ()))).await.unwrap();
    (engine, Arc::new(source))
}

async fn accept(engine: &Arc<Engine>, source: &Arc<Source>, body: &'static str) -> EventId {
    let arrival = Arrival {
        event_type: None,
        external_id: None,
        external_scope: None,
        headers: Default::default(),
        body: body.into(),
        window: Default::default(),
        priority: None,
    };
    engine.ingest(source, arrival).await.unwrap().id
}

/// The event, once its delivery has this status.
async fn once(engine: &Engine, event: EventId, status: DeliveryStatus) -> EventDetail {
    let look = async {
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        loop {
            looks.tick().await;
            let found = engine.event(AccountId::from_u64(1), event).await.unwrap().unwrap();
            if found.deliveries[0].status == status {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("it is never {status:?}"))
}

#[tokio::test]
async fn an_attempt_that_panics_is_recorded_as_a_failure_and_gives_its_slot_back() {
    let (engine, source) = start(receiver().await).await;
    let panics = accept(&engine, &source, "panic! prepare").await;
    let fine = accept(&engine, &source, "{}").await;
    once(&engine, fine, DeliveryStatus::Delivered).await;
    let given_up = once(&engine, panics, DeliveryStatus::DeadLetter).await;
    assert_eq!(given_up.attempts.len() as u64, ATTEMPTS, "it was tried again by its policy");
    for attempt in &given_up.attempts {
        let problem = attempt.problem.as_ref().map(|problem| problem.kind);
        assert_eq!((attempt.outcome, problem), (Outcome::Cancelled, Some(ErrorKind::Internal)));
    }
    let later = accept(&engine, &source, "{}").await;
    once(&engine, later, DeliveryStatus::Delivered).await;
}

#[tokio::test]
async fn what_an_attempt_can_do_without_costs_nothing_when_it_panics() {
    let (engine, source) = start(receiver().await).await;
    for body in ["panic! context", "panic! retry-after", "panic! span"] {
        let panics = accept(&engine, &source, body).await;
        let delivered = once(&engine, panics, DeliveryStatus::Delivered).await;
        assert_eq!(delivered.attempts.len(), 1, "{body}");
    }
    let later = accept(&engine, &source, "{}").await;
    once(&engine, later, DeliveryStatus::Delivered).await;
}
