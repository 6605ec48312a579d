//! A machine that stands still does to all processes what a freeze does to one: that is written down as a fault.

use super::Shared;
use crate::rig::random::Random;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(50);
/// Longer than any scheduler lets a process wait that has something to do, shorter than what a lease leaves over.
const STALL: Duration = Duration::from_millis(500);

pub(super) fn watch(shared: &Shared, _: Random) -> anyhow::Result<()> {
    while !shared.is_over() {
        let (from, began) = (shared.watch.now(), Instant::now());
        shared.pass(LOOK);
        if began.elapsed() > LOOK + STALL {
            shared.does("the machine stood still");
            shared.fault("the machine stood still", from, Duration::from_secs(1));
        }
    }
    Ok(())
}
