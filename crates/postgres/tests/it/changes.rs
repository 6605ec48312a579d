//! Changes of the configuration, one at a time over all nodes.

use crate::opened;
use postrider_postgres::testing::Server;
use postrider_store::Store;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(60);
/// Well within the time after which the server takes the lock away from whoever is silent.
const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_change_that_was_begun_and_never_made_keeps_nobody_waiting() {
    let url = Server::shared().database();
    let (one, other) = (opened(&url, LEASE).await, opened(&url, LEASE).await);
    one.begin_change().await.unwrap();
    let again = tokio::time::timeout(PATIENCE, one.begin_change()).await;
    again.expect("it does not wait for itself").unwrap();
    one.configure(Vec::new()).await.unwrap();
    let next = tokio::time::timeout(PATIENCE, other.begin_change()).await;
    next.expect("the lock was given back").unwrap();
}
