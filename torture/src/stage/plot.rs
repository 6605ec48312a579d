//! The destinations of a run and the kinds of event that they are owed.

use crate::history::Line;

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
