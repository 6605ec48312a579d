//! Limits: how near the gateway comes to servers that do less, each in turn with it, and how long its events take
//! when the machine has room.

pub(crate) mod half_load;
pub(crate) mod ingest;
pub(crate) mod nginx;

use crate::args::BenchArgs;

/// Few where only the way is tried.
fn events(args: &BenchArgs) -> u64 {
    args.size_of(args.events, args.events.min(1000))
}

/// As many turns as the throughput has rounds.
fn turns(args: &BenchArgs) -> u32 {
    args.size_of(args.rounds.max(1), 1)
}
