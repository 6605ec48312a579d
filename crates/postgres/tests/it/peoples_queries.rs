//! What people ask has few of a node's connections.

use crate::opened;
use postrider_core::delivery::{Lane, Line, Priority};
use postrider_core::id::{AccountId, DestinationId, EventId};
use postrider_postgres::testing::Server;
use postrider_store::{AuditQuery, Store, TellOf};
use std::sync::Arc;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(5);
/// More than a node has connections.
const QUERIES: usize = 20;

const WAITING: &str = "SELECT count(*) FROM pg_locks WHERE relation = 'audit'::regclass AND NOT granted";
async fn wait_for(url: &str, asked: &str, answer: &str) {
    let look = async {
        while Server::shared().ask(url, asked) != answer {
            // Asking takes its time.
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.expect(asked);
}

fn of(account: u64) -> AuditQuery {
    AuditQuery {
        account: Some(AccountId::from_u64(account)),
        noun: None,
        object: None,
        key: None,
        since: None,
        until: None,
        after: None,
        limit: 1,
    }
}

#[tokio::test]
async fn however_many_queries_people_have_deliveries_and_changes_find_a_connection() {
    let url = Server::shared().database();
    let node = Arc::new(opened(&url, LEASE).await);
    let held = Server::shared().hold(&url, "BEGIN; LOCK TABLE audit;");
    let queries: Vec<_> = (0..QUERIES)
        .map(|_| {
            let node = Arc::clone(&node);
            tokio::spawn(async move { node.audit(of(1)).await })
        })
        .collect();
    wait_for(&url, WAITING, "2").await;
    let destination = DestinationId::from_u64(10);
    let line = Line { destination, priority: Priority::Normal, lane: Lane::Fresh };
    let deliver = async {
        node.load(line, 10).await.unwrap();
        node.content(EventId::from_u64(1)).await.unwrap();
        node.others(TellOf::InFlight).await.unwrap();
        node.begin_change().await.unwrap();
        node.configure(Vec::new()).await.unwrap();
    };
    tokio::time::timeout(PATIENCE, deliver).await.expect("they have connections of their own");
    assert_eq!(Server::shared().ask(&url, WAITING), "2");
    drop(held);
    for query in queries {
        query.await.unwrap().unwrap();
    }
}
