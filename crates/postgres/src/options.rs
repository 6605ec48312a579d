//! The settings of a node on a shared store.

use std::time::Duration;

/// How a node keeps house.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// What people know this node by.
    pub node_name: String,
    /// A node that has not been heard of for so long is taken for dead.
    pub lease: Duration,
    /// History older than this is dropped, unless something of it is still owed.
    pub retention: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        PostgresOptions {
            node_name: "node".into(),
            lease: Duration::from_secs(10),
            retention: Duration::from_secs(7 * 24 * 3600),
        }
    }
}
