//! The engine against receivers on this machine that answer byte for byte as a test says.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod gateway;
mod receiver;
mod switch;
mod switched_store;
mod tls_receiver;
mod wait;
mod watching;

mod account_retention;
mod addresses;
mod answers;
mod changes;
mod client_certificates;
mod concurrency;
mod connections;
mod consent;
mod crash_loop;
mod deletion;
mod documented_expressions;
mod early_answers;
mod fan_out;
mod floods;
mod hanging;
mod http2_floods;
mod http2_refusals;
mod idempotency;
mod loops;
mod outside_urls;
mod ownership;
mod rebinding;
mod redirects;
mod replays;
mod request;
mod restart;
mod retries;
mod shared_contents;
mod shortages;
mod signing;
mod spellings;
mod stopping;
mod storage_faults;
mod tls;
mod transformed_bodies;
mod trials;
