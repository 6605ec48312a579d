//! What a scenario promises, and whether the run kept it.

use serde::Serialize;

/// One promise with its limit and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) measured: f64,
    pub(crate) bound: Bound,
    pub(crate) limit: f64,
    pub(crate) held: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
}

impl Goal {
    pub(crate) fn at_most(what: &'static str, measured: f64, limit: f64) -> Goal {
        Goal { what, measured, bound: Bound::AtMost, limit, held: measured <= limit }
    }

    pub(crate) fn at_least(what: &'static str, measured: f64, limit: f64) -> Goal {
        Goal { what, measured, bound: Bound::AtLeast, limit, held: measured >= limit }
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
