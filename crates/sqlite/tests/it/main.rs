//! The embedded store on real files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod backup;
mod conformance;
mod contents;
mod counts;
mod dead_letters;
mod files;
mod missing;
mod transfer;
