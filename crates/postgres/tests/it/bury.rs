//! A node that has not heard of a destination must not take what it is owed for that of a deleted one.

use crate::opened;
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;
use postrider_postgres::testing::Server;
use postrider_store::{Shard, Store};
use std::time::Duration;

#[tokio::test]
async fn what_is_owed_to_a_destination_that_exists_is_not_buried() {
    let url = Server::shared().database();
    let store = opened(&url, Duration::from_secs(60)).await;
    let destination = DestinationId::from_u64(5);
    let shard = Shard::of(destination).number();
    let owe = format!(
        "INSERT INTO configuration VALUES ('destination', 5, 1, '{{}}');
         INSERT INTO queue VALUES ({shard}, 5, 3, 0, 0, 7, 1, 6, 2, 0, 10, NULL, NULL)"
    );
    Server::shared().ask(&url, &owe);
    let bury = || store.bury(destination, Timestamp::from_unix_ms(1), 10);
    assert_eq!(bury().await.unwrap(), 0);
    Server::shared().ask(&url, "UPDATE configuration SET document = NULL");
    assert_eq!(bury().await.unwrap(), 1);
}
