//! What is going to happen, in order of time; what is planned for the same moment happens in the order of planning.

use postrider_core::time::Timestamp;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Agenda<T> {
    entries: BTreeMap<(Timestamp, u64), T>,
    planned: u64,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        Agenda { entries: BTreeMap::new(), planned: 0 }
    }

    pub(crate) fn plan(&mut self, at: Timestamp, what: T) {
        self.planned += 1;
        self.entries.insert((at, self.planned), what);
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.entries.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.entries.pop_first().map(|(_, what)| what)
    }
}
