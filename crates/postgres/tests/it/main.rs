//! The store of many nodes on a real server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod conformance;
