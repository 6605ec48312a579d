//! The audit log goes by age, as events do.

use crate::opened;
use postrider_postgres::PostgresOptions;
use postrider_postgres::testing::Server;
use postrider_store::conformance::audit::records_past_their_retention_are_dropped;
use std::time::Duration;

#[tokio::test]
async fn the_audit_log_goes_by_age_as_events_do() {
    let store = opened(&Server::shared().database(), Duration::from_secs(60)).await;
    records_past_their_retention_are_dropped(&store, PostgresOptions::default().retention).await;
}
