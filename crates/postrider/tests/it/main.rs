//! The tests that look at Postrider from outside, in one binary so that they link once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod rig;

mod api;
mod bad_input;
mod bench;
mod cluster;
mod command;
mod configuration;
mod dashboard;
mod deploy;
mod doctor;
mod egress;
mod faults;
mod ingest;
mod migrate_store;
mod operational;
mod scheduling;
mod secrets;
mod start;
mod storage;
mod time;
mod traces;
mod watching;
