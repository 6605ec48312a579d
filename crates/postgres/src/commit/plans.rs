//! How the server goes about a batch, as it says itself.

use super::{BY_KEY, accept, ends, overtaken};
use crate::testing::Server;
use crate::{PostgresOptions, PostgresStore};

/// Whether anything but a key leads to rows of a table.
fn reads_whole_tables(plan: &str) -> bool {
    let tables = ["events", "queue", "attempts", "idempotency", "dead_letters"];
    tables.iter().any(|table| plan.contains(&format!("Seq Scan on {table}")))
}

/// The plan of a statement for a batch of any size.
fn plan(url: &str, statement: &str) -> String {
    let parameters = (1..).take_while(|number| statement.contains(&format!("${number}::"))).count();
    let nulls = vec!["NULL"; parameters].join(", ");
    let ask =
        format!("BEGIN; {BY_KEY}; PREPARE batch AS {statement}; EXPLAIN (COSTS off) EXECUTE batch({nulls})");
    Server::shared().ask(url, &ask)
}

#[tokio::test]
async fn rows_of_a_batch_are_found_by_key_or_hash_and_never_one_by_one() {
    let url = Server::shared().database();
    let store = PostgresStore::open(&url, None, PostgresOptions::default()).await;
    postrider_store::Store::close(&store.expect("the schema is made")).await.expect("it closes");
    for statement in [&*accept::ACCEPT, &*ends::FINISH, &*ends::GIVE_UP] {
        let plan = plan(&url, statement);
        assert!(plan.contains("hashed SubPlan"), "{plan}");
        assert!(!plan.contains("Join Filter"), "rows are compared with each other:\n{plan}");
        assert!(!reads_whole_tables(&plan), "{plan}");
    }
    let plan = plan(&url, &overtaken::LAST);
    assert!(plan.contains("Index Only Scan Backward using queue_pkey") && plan.contains("Limit"), "{plan}");
    assert!(!reads_whole_tables(&plan), "{plan}");
}
