//! An engine that is slow to hear: the news wait for it, however many there are.

use crate::opened;
use postrider_postgres::PostgresStore;
use postrider_postgres::testing::Server;
use postrider_store::{Mail, News, Store};
use std::time::Duration;

/// Half of it is how long the node is patient with anything that it waits for.
const LEASE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(30);
/// Several times what fits between the store and the engine.
const LETTERS: u64 = 300;

/// A node with more news than it can hear, which has been waiting for its engine for longer than it is patient.
async fn stuffed(url: &str) -> PostgresStore {
    let node = opened(url, LEASE).await;
    // In one envelope, so that they are taken out together.
    let letters: Vec<String> = (0..LETTERS).map(|number| format!("{{\"replay\":{number}}}")).collect();
    Server::shared().ask(url, &format!("INSERT INTO mail VALUES (0, 9, 9, 9, '[{}]')", letters.join(",")));
    wait_for(url, "SELECT count(*) FROM mail", |left| left == "0").await;
    wait_for_rounds(url).await;
    node
}

/// Until it has given up waiting for its engine and begun anew, more than once.
async fn wait_for_rounds(url: &str) {
    let renews = "SELECT max(query_start) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'UPDATE members SET lease_until%'";
    for _ in 0..3 {
        let before = Server::shared().ask(url, renews);
        wait_for(url, renews, |now| !now.is_empty() && now != before).await;
    }
}

async fn wait_for(url: &str, asked: &str, seen: impl Fn(&str) -> bool) {
    let look = async {
        while !seen(&Server::shared().ask(url, asked)) {
            // Asking takes its time.
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.expect(asked);
}

/// Hears news until there is nothing more to wait for, which is to be soon.
async fn hear(node: &PostgresStore, mut is_last: impl FnMut(News) -> bool) {
    let hear = async { while !is_last(node.news().await) {} };
    tokio::time::timeout(PATIENCE, hear).await.expect("it is heard");
}

#[tokio::test]
async fn every_letter_is_heard_once_however_late() {
    let url = Server::shared().database();
    let (node, mut heard) = (stuffed(&url).await, Vec::new());
    hear(&node, |news| {
        if let News::Mail(Mail::Replay(id)) = news {
            heard.push(id.as_u64());
        }
        heard.len() == LETTERS as usize
    })
    .await;
    heard.sort_unstable();
    assert_eq!(heard, (0..LETTERS).collect::<Vec<_>>());
}

#[tokio::test]
async fn that_shards_were_lost_is_heard_however_late() {
    let url = Server::shared().database();
    let node = stuffed(&url).await;
    let dies = "DELETE FROM members; UPDATE shards SET owner = NULL, incarnation = NULL, clean = false";
    Server::shared().ask(&url, dies);
    wait_for_rounds(&url).await;
    let mut lost = 0;
    hear(&node, |news| {
        if let News::Lost(shards) = news {
            lost = shards.len();
        }
        lost > 0
    })
    .await;
    assert_eq!(lost, 64);
}
