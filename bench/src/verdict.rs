//! What a scenario promises, and whether the run kept it.

use crate::spread::Spread;
use serde::Serialize;

/// One promise with its limit and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) measured: f64,
    pub(crate) bound: Bound,
    pub(crate) limit: f64,
    pub(crate) held: bool,
    /// The least and the most of several rounds.
    pub(crate) spread: Option<Spread>,
    /// Judged by its worst round, not by its median.
    every_round: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
}

impl Goal {
    pub(crate) fn at_most(what: &'static str, measured: f64, limit: f64) -> Goal {
        Goal::new(what, measured, Bound::AtMost, limit)
    }

    pub(crate) fn at_least(what: &'static str, measured: f64, limit: f64) -> Goal {
        Goal::new(what, measured, Bound::AtLeast, limit)
    }

    fn new(what: &'static str, measured: f64, bound: Bound, limit: f64) -> Goal {
        let held = match bound {
            Bound::AtMost => measured <= limit,
            Bound::AtLeast => measured >= limit,
        };
        Goal { what, measured, bound, limit, held, spread: None, every_round: false }
    }

    /// Of what must not be otherwise even once.
    pub(crate) fn in_every_round(self) -> Goal {
        Goal { every_round: true, ..self }
    }

    /// One of the same goal in several rounds.
    pub(crate) fn of_rounds<'a>(rounds: impl Iterator<Item = &'a Goal> + Clone) -> Option<Goal> {
        let first = rounds.clone().next()?;
        let spread = Spread::of(rounds.map(|goal| goal.measured))?;
        let measured = match (first.every_round, first.bound) {
            (false, _) => spread.median,
            (true, Bound::AtMost) => spread.max,
            (true, Bound::AtLeast) => spread.min,
        };
        let whole = Goal::new(first.what, measured, first.bound, first.limit);
        Some(Goal { spread: Some(spread), every_round: first.every_round, ..whole })
    }
}

impl Bound {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
        }
    }
}

/// One figure by another. The smallest base is one unit, so that a base of nothing gives a number that JSON knows.
pub(crate) fn ratio(value: f64, base: f64) -> f64 {
    value / base.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_held_up_to_its_limit_and_including_it() {
        for (measured, at_most, at_least) in [(1.9, true, false), (2.0, true, true), (2.1, false, true)] {
            assert_eq!(Goal::at_most("x", measured, 2.0).held, at_most, "{measured}");
            assert_eq!(Goal::at_least("x", measured, 2.0).held, at_least, "{measured}");
        }
        // What could not be measured is never held.
        assert!(!Goal::at_most("x", f64::NAN, 2.0).held);
        assert!(!Goal::at_least("x", f64::NAN, 2.0).held);
    }

    #[test]
    fn a_ratio_is_always_a_number() {
        assert!((ratio(3000.0, 1500.0) - 2.0).abs() < 1e-9);
        assert!(ratio(5.0, 0.0).is_finite());
    }
}
