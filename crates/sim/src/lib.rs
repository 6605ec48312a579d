//! A seeded simulation of the scheduler on the store in memory: producers, receivers that fail, hang and
//! recover, operators, crashes and restarts, slow and failing pages, over days, in one thread, on a clock of its own.
//!
//! The ledger checks from outside: it is told what was accepted, what was sent and what was answered, and
//! never looks into the scheduler. A run replays from its seed.

mod agenda;
mod breach;
mod dead_letters;
mod gateway;
mod ledger;
mod nemesis;
mod operators;
mod options;
mod pages;
mod producer;
mod random;
mod receiver;
mod recorder;
mod report;
mod restart;
#[cfg(test)]
mod scenario;
mod setup;
#[cfg(test)]
mod tests;
mod trace;
mod world;

pub use breach::{Breach, Mismatch, Violation};
pub use options::{Bug, Options};
pub use report::Report;

use std::panic::{AssertUnwindSafe, catch_unwind};
use world::World;

/// Simulates one world from its seed until nothing is left to happen.
///
/// The scheduler's own assertions count too: a panic in it is a violation like any other.
pub fn run(seed: u64, options: &Options) -> Result<Report, Box<Violation>> {
    let mut world = World::new(seed, options);
    let breach = match catch_unwind(AssertUnwindSafe(|| world.live())) {
        Ok(Ok(())) => return Ok(world.into_report()),
        Ok(Err(breach)) => breach,
        Err(panic) => Breach::Panicked(message(&*panic)),
    };
    Err(Box::new(Violation { seed, at: world.now, breach, trace: world.trace.into_lines() }))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}
