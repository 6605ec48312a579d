//! What one check may cost. Everything that looks at a body pays here first; whoever cannot pay is ended at once, however
//! deep inside of the validator it is.

use postrider_store::containment::{Panicked, contain};
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::time::Duration;

/// Fuel of a check. In a release build a unit took 2 to 9 ns of CPU, whatever the keyword: so up to about 0.2 s in all.
pub(super) const CHECK_FUEL: u64 = 20_000_000;
/// Fuel of a check on a thread on which others are served: about 0.2 ms.
pub(super) const BRIEF_FUEL: u64 = 20_000;
/// Fuel for a note of what is wrong, which takes hundreds of bytes: so there are at most 50,000 of them.
pub(super) const NOTE_FUEL: u64 = CHECK_FUEL / 50_000;
/// CPU time after which a check ends whatever its fuel says: should a unit cost more than was measured.
const CPU_TIME_MAX: Duration = Duration::from_secs(1);
/// How much fuel is burnt between two looks at that time.
const LOOK_FUEL: u64 = 1 << 17;

/// Why a run ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It cost more than it may.
    OutOfFuel,
    /// The validator broke on some value.
    Broken,
}

/// What it costs to come to an element of a list or a map, by the schema that looks at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VisitPrice {
    /// Of each element, for the schemas that look at it without paying themselves.
    pub(super) element: u64,
    /// Of each name, and of each of its bytes, for the patterns that are held against it.
    pub(super) name: u64,
    pub(super) name_byte: u64,
}

#[derive(Clone, Copy)]
struct Tank {
    left: u64,
    /// The clock is looked at when less than this is left.
    look_below: u64,
    ends_at: Duration,
    price: VisitPrice,
}

/// Outside of a run nothing is counted.
const UNLIMITED: Tank = Tank {
    left: u64::MAX,
    look_below: 0,
    ends_at: Duration::MAX,
    price: VisitPrice { element: 0, name: 0, name_byte: 0 },
};

thread_local! {
    static TANK: Cell<Tank> = const { Cell::new(UNLIMITED) };
}

/// Thrown through the validator, past every hook that would log it.
struct NothingLeft;

/// Runs what pays, with so much fuel.
pub(super) fn with<T>(fuel: u64, price: VisitPrice, run: impl FnOnce() -> T) -> Result<T, Ended> {
    let ends_at = if fuel < LOOK_FUEL { Duration::MAX } else { cpu_time() + CPU_TIME_MAX };
    TANK.set(Tank { left: fuel, look_below: fuel.saturating_sub(LOOK_FUEL), ends_at, price });
    let ended = contain(run);
    let is_empty = TANK.replace(UNLIMITED).left == 0;
    ended.map_err(|Panicked| if is_empty { Ended::OutOfFuel } else { Ended::Broken })
}

/// What it costs to come to an element.
pub(super) fn price() -> VisitPrice {
    TANK.get().price
}

/// Pays for what is done next.
pub(super) fn spend(units: u64) {
    let mut tank = TANK.get();
    tank.left = tank.left.saturating_sub(units);
    if tank.left < tank.look_below {
        tank.look_below = tank.left.saturating_sub(LOOK_FUEL);
        if tank.left > 0 && cpu_time() > tank.ends_at {
            tank.left = 0;
        }
    }
    TANK.set(tank);
    if tank.left == 0 {
        resume_unwind(Box::new(NothingLeft));
    }
}

/// What a text of this length costs for each so many of its bytes.
pub(super) fn of_bytes(bytes: usize, for_a_unit: u64) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX) / for_a_unit
}

/// What is left of the fuel.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn left() -> u64 {
    TANK.get().left
}

/// CPU time of this thread.
pub(super) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_when_its_fuel_does_and_the_next_has_its_own() {
        let run =
            |fuel, spends: u64| with(fuel, VisitPrice::default(), || (0..spends).for_each(|_| spend(1)));
        assert_eq!(run(10, 9), Ok(()));
        assert_eq!(run(10, 10), Err(Ended::OutOfFuel));
        assert_eq!(run(10, u64::MAX), Err(Ended::OutOfFuel));
        assert_eq!(run(10, 9), Ok(()));
        spend(u64::MAX / 2);
        let broken =
            with(10, VisitPrice::default(), || -> () { resume_unwind(Box::new("of the validator")) });
        assert_eq!(broken, Err::<(), _>(Ended::Broken));
    }

    #[test]
    fn a_run_whose_units_cost_too_much_ends_by_its_cpu_time() {
        let begun = cpu_time();
        let run = || loop {
            spend(LOOK_FUEL + 1);
            let paid = cpu_time();
            while cpu_time() - paid < CPU_TIME_MAX / 2 {}
        };
        let ended: Result<(), Ended> = with(u64::MAX / 2, VisitPrice::default(), run);
        assert_eq!(ended, Err(Ended::OutOfFuel));
        assert!(cpu_time() - begun < CPU_TIME_MAX * 4);
    }
}
