//! `scripts/torture`: a gateway under faults, looked at from outside, and a judge of what came of it.
//!
//! Producers write a ledger of what they were answered, a sink writes a log of what arrived, a nemesis with a seed
//! writes down what it did and when. [`check`] holds the three against each other and knows nothing else.

pub mod check;
pub mod history;
