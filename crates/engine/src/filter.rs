//! A route's filter: whether an event passes, and how often that could not be said.

use crate::expression::{Expression, Facts, Failure, Wants};
use crate::routing::compiled;
use postrider_store::Route;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Filter {
    /// `None` when it is not legal; then nothing passes.
    expression: Option<Expression>,
    /// Events that did not pass because it failed for them.
    failures: AtomicU64,
}

impl Filter {
    pub(crate) fn new(text: &str, route: &Route) -> Self {
        Filter { expression: compiled(text, Wants::Bool, &route.id), failures: AtomicU64::new(0) }
    }

    /// Whether an event passes. One for which it fails does not, and is counted.
    pub(crate) fn lets_pass(&self, facts: &Facts<'_>) -> bool {
        self.judge(facts).unwrap_or_else(|_| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            false
        })
    }

    /// Whether an event passes, or why that cannot be said.
    pub(crate) fn judge(&self, facts: &Facts<'_>) -> Result<bool, Failure> {
        self.expression.as_ref().ok_or_else(Failure::not_legal)?.truth(facts)
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}
