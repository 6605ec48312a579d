//! What only the database scenario looks at.

use clap::{Args, value_parser};

#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArgs {
    /// Measures the store of several nodes on this PostgreSQL server, in schemas that are dropped afterwards, beside
    /// two designs from the textbook, and how long an event takes by way of two gateways; --events, --size, --pending,
    /// --rate-seconds and --json count here too
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Counts of nodes, each measured by itself
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4], value_parser = value_parser!(u8).range(1..=64))]
    pub(crate) nodes: Vec<u8>,
    /// Workers of the textbook designs, a connection each
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u16).range(1..=500))]
    pub(crate) workers: u16,
    /// Events in each run of a textbook design
    #[arg(long, default_value_t = 10_000, value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub(crate) textbook_events: u64,
    /// Events accepted, and outcomes recorded, in one commit at most
    #[arg(long, default_value_t = 500, value_parser = value_parser!(u16).range(1..=10_000))]
    pub(crate) batch: u16,
    /// Destinations that events are spread over, where they are many
    #[arg(long, default_value_t = 1000, value_parser = value_parser!(u64).range(2..=1_000_000))]
    pub(crate) cold: u64,
    /// Deliveries finished before the loaded run starts; for the pages scenario, stored attempts (default there: one million)
    #[arg(long, default_value_t = 0, value_parser = value_parser!(u64).range(0..=100_000_000))]
    pub(crate) finished: u64,
}
