//! An account whose events are shown for less time than they are kept.

use crate::gateway::{Setup, change};
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId, least_at};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_engine::{Engine, Replayed, Revived};
use postrider_store::{
    Account, Batch, Change, DeadLetterFilter, DeadLetterOrder, DeadLetterQuery, EventContent, EventFilter,
    EventQuery, FanOut, GivenUp, MemoryStore, NewDelivery, NewEvent, Store,
};
use std::sync::Arc;

const DAY_MS: u64 = 24 * 3600 * 1000;

async fn letter_is_shown(engine: &Engine, account: AccountId, delivery: DeliveryId) -> bool {
    let query = DeadLetterQuery {
        account,
        filter: DeadLetterFilter::default(),
        order: DeadLetterOrder::NewestFirst,
        after: None,
        limit: 10,
    };
    let listed = engine.dead_letters().list(query).await.unwrap().items.len() == 1;
    let found = engine.dead_letters().find(account, delivery).await.unwrap().is_some();
    assert_eq!(listed, found, "a dead letter is listed as long as it is read");
    found
}

#[tokio::test]
async fn events_older_than_an_accounts_retention_and_their_dead_letters_are_not_shown() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let gateway = Setup { store: Arc::clone(&store), ..Setup::default() }.start().await;
    let (engine, id) = (&gateway.engine, gateway.source.account);
    let new = gateway.accept("new").await;
    let received_at = Timestamp::from_unix_ms(engine.clock().now().unix_ms() - 2 * DAY_MS);
    let content = Arc::new(EventContent { received_at, ..gateway.detail(new).await.content });
    let made_at = least_at(received_at);
    let (old, delivery) = (EventId::from_u64(made_at), DeliveryId::from_u64(made_at + 1));
    let owed = NewDelivery {
        id: delivery,
        destination: DestinationId::from_u64(1),
        route: RouteId::from_u64(1),
        priority: Priority::Normal,
        order: None,
    };
    let event = NewEvent { id: old, external_id: None, content, idempotency: None, deliveries: vec![owed] };
    let ticket = event.tickets().next().unwrap();
    store.commit(Arc::new(Batch { events: vec![event], ..Batch::default() })).await.unwrap();
    let given_up = GivenUp {
        account: id,
        ticket,
        reason: DeathReason::Expired,
        last_error: None,
        died_at: engine.clock().now(),
        blocks_line: false,
    };
    store.commit(Arc::new(Batch { given_up: vec![given_up], ..Batch::default() })).await.unwrap();
    let shown = async || {
        let query = EventQuery {
            account: id,
            filter: EventFilter::default(),
            after: None,
            limit: 10,
            offset: 0,
            fan_out: FanOut::All,
        };
        let page = engine.events(query).await.unwrap();
        let read = engine.event(id, old).await.unwrap().is_some();
        let by_delivery = engine.event_of(id, delivery).await.unwrap().is_some();
        assert_eq!(by_delivery, read, "a delivery is shown as long as its event");
        assert_eq!(
            letter_is_shown(engine, id, delivery).await,
            read,
            "a dead letter is shown as long as its event"
        );
        (page.items.iter().map(|event| event.id).collect::<Vec<_>>(), page.total, read)
    };
    assert_eq!(shown().await, (vec![new, old], 2, true));
    for (days, expected) in [(3, (vec![new, old], 2, true)), (1, (vec![new], 1, false))] {
        let account = engine.catalog().account(id).cloned().unwrap();
        change(engine, vec![Change::PutAccount(Account { retention_days: Some(days), ..account })]).await;
        assert_eq!(shown().await, expected, "{days} days");
    }
    assert!(matches!(engine.replay(id, old, None).await.unwrap(), Replayed::Unknown), "nor is it sent again");
    assert_eq!(engine.dead_letters().revive(id, delivery).await.unwrap(), Revived::Unknown);
    assert!(matches!(engine.replay(id, new, None).await.unwrap(), Replayed::Accepted(_)));
}
