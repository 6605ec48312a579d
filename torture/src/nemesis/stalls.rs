//! A machine that is too busy does to a node what a freeze does: the others take it for dead. Nobody ordered that, and it
//! may cut attempts off all the same, so it is written down as a fault.

use super::Shared;
use crate::fleet::LEASE;
use crate::history::Struck;
use crate::rig::random::Random;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(50);
/// Longer than any scheduler lets a process wait that has something to do, shorter than what a lease leaves over.
const STALL: Duration = Duration::from_millis(500);
/// A node that was not heard of for a lease had begun to be late before, and hears of it only once it is quick again.
const LATE_FOR: Duration = Duration::from_secs(3 * LEASE.as_secs());
const TAKEN_OVER: &str = "another node took over";

pub(super) fn watch(shared: &Shared, _: Random) -> anyhow::Result<()> {
    let mut read: HashMap<u32, u64> = HashMap::new();
    while !shared.is_over() {
        let began = Instant::now();
        shared.pass(LOOK);
        if began.elapsed() > LOOK + STALL {
            note(shared, "the machine stood still", Struck::All, began.elapsed());
        }
        for number in 0..shared.fleet.size() {
            let node = shared.fleet.node(number);
            let Some(process) = node.process() else { continue };
            let from = read.entry(process.id()).or_default();
            let (said, until) = process.err_since(*from);
            *from = until;
            drop(node);
            if said.contains(TAKEN_OVER) {
                let what = format!("another node took over from node {number}");
                note(shared, &what, Struck::Node(number), LATE_FOR);
            }
        }
    }
    Ok(())
}

/// Something that has lasted for so long.
fn note(shared: &Shared, what: &str, struck: Struck, lasted: Duration) {
    let from = shared.does(what).saturating_sub(lasted.as_micros() as u64);
    shared.fault(what, struck, from, Duration::from_secs(1));
}
