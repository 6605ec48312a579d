//! What the program that is measured is asked to do: it knows its store, the benchmark does not.

use std::time::Duration;

/// So many lives.
#[derive(Debug, Clone)]
pub struct LifeOrder {
    /// The database, with a schema of its own.
    pub url: String,
    /// Nodes that share it. Each accepts its part of the events, for all destinations.
    pub nodes: u8,
    /// Events with one delivery each, from acceptance to the record of its attempt.
    pub events: u64,
    /// Events that are accepted and stay owed.
    pub pending: u64,
    /// Destinations that they are spread over.
    pub destinations: u64,
    /// Of a body.
    pub size_bytes: u32,
    /// Events and outcomes of one commit at most.
    pub batch: u16,
}

/// Lives them, and says how long that took from the first commit to the last. Blocks.
pub type Lives = fn(&LifeOrder) -> anyhow::Result<Duration>;
