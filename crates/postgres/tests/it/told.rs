//! What a node told of its destinations, when it cannot know whether it was heard.

use crate::opened;
use postrider_core::breaker::Circuit;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::scheduler::{Depth, DestinationQueue, DestinationView, LimitReason, Lines, Why};
use postrider_postgres::testing::Server;
use postrider_store::{NodeActivity, Store};
use std::time::Duration;

fn busy() -> NodeActivity {
    let seen = DestinationView {
        in_flight: 0,
        pending: Depth { rows: 2, bytes: 20 },
        limit: 5,
        limit_reason: LimitReason::Configured,
        circuit: Circuit::Closed,
        opened_at: None,
        circuit_reason: None,
        next_probe_at: None,
        consecutive_failures: 0,
        blocked_keys: 0,
        why: Why::Nothing,
        until: None,
    };
    let (id, account) = (DestinationId::from_u64(8), AccountId::from_u64(9));
    let queue =
        DestinationQueue { id, account, seen, max_concurrency: 5, slot_denied: 0, lines: Lines::default() };
    NodeActivity { destinations: vec![queue], ..NodeActivity::default() }
}

#[tokio::test]
async fn what_was_told_before_a_telling_that_failed_is_taken_back() {
    let url = Server::shared().database();
    let ask = |sql: &str| Server::shared().ask(&url, sql);
    let node = opened(&url, Duration::from_secs(60)).await;
    node.tell_activity(busy()).await.unwrap();
    assert_eq!(ask("SELECT count(*) FROM destination_activity"), "1");
    ask("ALTER TABLE destination_activity RENAME TO away");
    node.tell_activity(NodeActivity::default()).await.unwrap_err();
    ask("ALTER TABLE away RENAME TO destination_activity");
    node.tell_activity(NodeActivity::default()).await.unwrap();
    assert_eq!(ask("SELECT count(*) FROM destination_activity"), "0");
}

#[tokio::test]
async fn a_node_that_has_told_nothing_yet_is_shown_without_what_it_does() {
    let node = opened(&Server::shared().database(), Duration::from_secs(60)).await;
    let told = async || node.cluster().await.unwrap().unwrap().nodes[0].activity.is_some();
    assert!(!told().await);
    node.tell_activity(busy()).await.unwrap();
    assert!(told().await);
}
