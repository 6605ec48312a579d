//! The destinations of a run and the kinds of event that they are owed.

use crate::history::Line;
use crate::load::Rate;

/// Which account something is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    First = 0,
    Neighbour = 1,
}

/// A kind of event. Its number is its place in the list.
pub(super) struct Kind {
    pub(super) number: u8,
    pub(super) event_type: &'static str,
    pub(super) whose: Whose,
    /// How many of its account's events are of it, beside the other kinds.
    pub(super) share: usize,
}

const fn kind(number: u8, event_type: &'static str, share: usize) -> Kind {
    Kind { number, event_type, whose: Whose::First, share }
}

impl Kind {
    /// Its share in a run at this rate. Of what is one at a time somewhere there are no more a second than usual.
    pub(super) fn share_at(&self, rate: Rate) -> usize {
        let owed = |part: &Part| part.kinds.iter().any(|(kind, _)| *kind == self.number);
        let is_narrow = PLOT.iter().any(|part| part.is_narrow() && owed(part));
        if is_narrow { self.share } else { self.share * rate.times_usual() }
    }
}

pub(super) const KINDS: &[Kind] = &[
    kind(0, "fan", 3),
    kind(1, "order", 2),
    kind(2, "keyed", 4),
    kind(3, "critical", 2),
    kind(4, "high", 2),
    kind(5, "normal", 3),
    kind(6, "bulk", 3),
    kind(7, "doom", 1),
    Kind { number: 8, event_type: "neighbour", whose: Whose::Neighbour, share: 1 },
];

/// A destination.
pub(super) struct Part {
    pub(super) path: &'static str,
    pub(super) whose: Whose,
    pub(super) line: Line,
    pub(super) max_concurrency: u32,
    pub(super) attempts_max: u32,
    pub(super) circuit_threshold: u32,
    /// What it is owed, each at a priority.
    pub(super) kinds: &'static [(u8, u8)],
}

impl Part {
    /// Whether it is sent one after the other.
    fn is_narrow(&self) -> bool {
        self.max_concurrency == 1 || self.line == Line::Strict
    }
}

/// As many as a policy may have: on a bad day nothing is given up on.
const PATIENT: u32 = 100;
/// As many as there may be: the circuit stays closed.
const NO_CIRCUIT: u32 = 10_000;

const fn part(path: &'static str, line: Line, max_concurrency: u32, kinds: &'static [(u8, u8)]) -> Part {
    let (attempts_max, circuit_threshold) = (PATIENT, NO_CIRCUIT);
    Part { path, whose: Whose::First, line, max_concurrency, attempts_max, circuit_threshold, kinds }
}

pub(super) const PLOT: &[Part] = &[
    part("/one", Line::Unordered, 1, &[(0, 3), (1, 2)]),
    part("/three", Line::Unordered, 3, &[(0, 3), (1, 3), (5, 3)]),
    Part {
        circuit_threshold: 5,
        ..part("/ten", Line::Unordered, 10, &[(0, 3), (3, 1), (4, 2), (5, 3), (6, 4)])
    },
    part("/strict", Line::Strict, 5, &[(0, 3), (1, 1)]),
    part("/by-key", Line::ByKey, 5, &[(0, 3), (2, 3)]),
    Part { circuit_threshold: 5, ..part("/by-key-circuit", Line::ByKey, 10, &[(2, 2)]) },
    // A quarter of these is never taken, and given up on.
    Part { attempts_max: 3, ..part("/doomed", Line::Unordered, 3, &[(7, 3)]) },
    Part { attempts_max: 3, ..part("/doomed-line", Line::Strict, 1, &[(7, 3)]) },
    Part { whose: Whose::Neighbour, ..part("/neighbour", Line::Unordered, 3, &[(8, 3)]) },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::PRODUCERS;
    use crate::sink::RETRY_DELAY;

    /// From an answer to the next request by the same slot: a commit is between them.
    const TURN_SECONDS: f64 = 0.004;
    /// How much of what it could take a destination is sent at most, so that a backlog goes away.
    const USED_MAX: f64 = 0.75;

    /// How much of what a destination could take it is sent at this rate.
    fn used(part: &Part, rate: u32) -> f64 {
        let exchange = Rate::of(rate).work_max().as_secs_f64() / 2.0 + TURN_SECONDS;
        let owed: f64 = part.kinds.iter().map(|(kind, _)| a_second(*kind, rate)).sum();
        let slots = if part.is_narrow() { 1 } else { part.max_concurrency };
        // A line waits for one that is given up on, three times in all.
        let held_up = if part.is_narrow() && part.path.contains("doomed") { owed / 4.0 } else { 0.0 };
        (owed * exchange + held_up * 2.0 * (RETRY_DELAY.as_secs_f64() + exchange)) / f64::from(slots)
    }

    /// How many events of a kind there are.
    fn a_second(kind: u8, rate: u32) -> f64 {
        let kind = &KINDS[usize::from(kind)];
        let share = |kind: &Kind| kind.share_at(Rate::of(rate)) as f64;
        let all: f64 = KINDS.iter().filter(|other| other.whose == kind.whose).map(share).sum();
        let eighths = if kind.whose == Whose::Neighbour { 1 } else { PRODUCERS - 1 };
        f64::from(rate * eighths) / f64::from(PRODUCERS) * share(kind) / all
    }

    #[test]
    fn every_destination_can_take_what_it_is_sent_at_any_rate_up_to_a_thousand() {
        for rate in (10..=1000).step_by(10) {
            for part in PLOT {
                let used = used(part, rate);
                assert!(used < USED_MAX, "{} at {rate} a second: {used}", part.path);
            }
        }
    }
}
