//! File descriptors: as many as the system allows, and shared out so that a crowd of clients cannot take those that the
//! store and the attempts need. An attempt without one fails at its receiver's cost, and a store without one cannot begin
//! a segment.

use crate::config::Config;
use postrider_core::delivery::Priority;
use postrider_core::scheduler::Floors;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Kept for the store, the metrics' own address and the threads: the writer and three readers may have 80 segments open,
/// two files each.
const OWN: u64 = 256;

/// Asks for all that there are, and brings the settings in line with what it gets.
pub(super) fn share_out(config: Config) -> Config {
    let Some(limit) = raise() else { return config };
    let shares = Shares::of(limit, config.slots, config.connections.total, config.idle_connections);
    let config = Config { idle_connections: shares.idle, ..config };
    if (shares.slots, shares.connections) == (config.slots, config.connections.total) {
        return config;
    }
    tracing::warn!(
        limit,
        slots = shares.slots,
        connections = shares.connections,
        "too few file descriptors for the configured slots and connections; both are lowered"
    );
    let mut config = config;
    config.connections.total = shares.connections;
    config.floors = config.floors.and_then(|floors| fitting(floors, shares.slots));
    config.slots = shares.slots;
    config
}

/// Raises the limit as far as it goes; none when there is none.
fn raise() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // The system may refuse what it has offered: a container may stand between.
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

/// Floors that do not fit into the slots any more are those of so many slots.
fn fitting(floors: Floors, slots: u32) -> Option<Floors> {
    Floors::new(Priority::ALL.map(|band| floors.of(band)), slots)
}

/// Who gets how many.
#[derive(Debug, PartialEq, Eq)]
struct Shares {
    slots: u32,
    connections: usize,
    /// Kept open to receivers between attempts.
    idle: usize,
}

/// Of what attempts leave, the part that connections between attempts get where there is not enough for all: without one an
/// attempt only begins with a handshake more.
const IDLE_PART: usize = 8;

impl Shares {
    /// Attempts go first: what was accepted is owed, and a client may come again.
    fn of(limit: u64, slots: u32, connections: usize, idle: usize) -> Self {
        let free = limit - OWN.min(limit / 2);
        let slots = u64::from(slots).min(free * 2 / 3).max(1);
        let left = usize::try_from(free.saturating_sub(slots)).unwrap_or(usize::MAX);
        let slots = u32::try_from(slots).expect("it is no more than was asked for");
        let idle = idle.min(left.saturating_sub(connections).max(left / IDLE_PART));
        Shares { slots, connections: connections.min(left - idle).max(1), idle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_connections_fit_into_the_limit_beside_the_store() {
        for (limit, slots, connections, idle) in [
            (65_536, 512, 4096, 2048),
            (6000, 512, 4096, 1136),
            (4096, 512, 2912, 416),
            (1024, 512, 224, 32),
            (256, 85, 38, 5),
            (4, 1, 1, 0),
        ] {
            let shares = Shares::of(limit, 512, 4096, 2048);
            assert_eq!(shares, Shares { slots, connections, idle }, "of {limit}");
        }
    }

    #[test]
    fn floors_that_do_not_fit_any_more_are_given_up() {
        let floors = Floors::new([20, 20, 20, 10], 512).unwrap();
        assert_eq!(fitting(floors, 70), Some(floors));
        assert_eq!(fitting(floors, 69), None);
    }
}
