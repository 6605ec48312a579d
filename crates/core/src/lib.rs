//! What Postrider decides, and nothing else: no I/O, no async, no clock, no randomness.
//!
//! Everything here is a value or a pure state machine. Time and chance come in as arguments, so a run
//! replays from its inputs.

pub mod account;
pub mod breaker;
mod circuit_policy;
pub mod delivery;
pub mod destination;
pub mod event;
mod failure_window;
pub mod final_status;
pub mod id;
pub mod limits;
pub mod map;
pub mod outcome;
pub mod pattern;
pub mod pauses;
pub mod priority_rule;
pub mod rate_gate;
pub mod retry;
pub mod retry_after;
pub mod scheduler;
pub mod start_gate;
pub mod time;
