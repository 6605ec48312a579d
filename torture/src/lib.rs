//! `scripts/torture`: a gateway under faults, looked at from outside, and a judge of what came of it.
//!
//! Producers write a ledger of what they were answered, a sink writes a log of what arrived, a nemesis with a seed
//! writes down what it did and when. [`check`] holds the three against each other and knows nothing else.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a run that cannot go on fails by panicking")]

pub mod api;
pub mod check;
pub mod fleet;
pub mod history;
pub mod load;
pub mod nemesis;
mod pace;
pub mod producer;
pub mod promises;
pub mod records;
pub mod rig;
pub mod run;
pub mod sink;
pub mod soak;
pub mod stage;
pub mod table;
pub mod watch;
