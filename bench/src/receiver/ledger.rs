//! What became of each event on the `/chaos/…` paths, by the id that the gateway gave it: the bodies of another
//! load generator say nothing.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Far more than a scenario sends; what comes beyond is answered and not kept.
const ENTRIES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    paths: BTreeMap<String, HashMap<String, Entry>>,
    entries: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Entry {
    attempts: u32,
    delivered: bool,
}

/// One path, where a delivery is given up on after so many attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerReport {
    pub(crate) events: u64,
    pub(crate) attempts: u64,
    pub(crate) delivered: u64,
    /// All attempts were made, and none was answered 200 in time.
    pub(crate) exhausted: u64,
}

impl Ledger {
    /// Counts an attempt, and gives its number, from 1.
    pub(crate) fn attempt(&mut self, path: &str, event: &str) -> u32 {
        if let Some(entry) = self.entry(path, event) {
            entry.attempts += 1;
            return entry.attempts;
        }
        1
    }

    pub(crate) fn delivered(&mut self, path: &str, event: &str) {
        if let Some(entry) = self.entry(path, event) {
            entry.delivered = true;
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Ledger::default();
    }

    /// All paths together.
    pub(crate) fn report(&self, attempts_max: u32) -> LedgerReport {
        let mut report = LedgerReport::default();
        for entry in self.paths.values().flat_map(HashMap::values) {
            report.events += 1;
            report.attempts += u64::from(entry.attempts);
            report.delivered += u64::from(entry.delivered);
            report.exhausted += u64::from(!entry.delivered && entry.attempts >= attempts_max);
        }
        report
    }

    fn entry(&mut self, path: &str, event: &str) -> Option<&mut Entry> {
        let known = self.paths.get(path).is_some_and(|events| events.contains_key(event));
        if !known {
            if self.entries >= ENTRIES_MAX {
                return None;
            }
            self.entries += 1;
        }
        Some(self.paths.entry(path.to_owned()).or_default().entry(event.to_owned()).or_default())
    }
}

impl LedgerReport {
    /// Deliveries of which nothing more is to come.
    pub(crate) fn ended(&self) -> u64 {
        self.delivered + self.exhausted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_ends_by_success_or_by_its_last_attempt() {
        let mut ledger = Ledger::default();
        assert_eq!([ledger.attempt("/a", "evt_1"), ledger.attempt("/a", "evt_1")], [1, 2]);
        assert_eq!([ledger.attempt("/a", "evt_2"), ledger.attempt("/b", "evt_2")], [1, 1]);
        ledger.delivered("/b", "evt_2");
        let report = ledger.report(2);
        assert_eq!(report, LedgerReport { events: 3, attempts: 4, delivered: 1, exhausted: 1 });
        assert_eq!(report.ended(), 2);
        assert_eq!(ledger.report(1).ended(), 3);
        ledger.clear();
        assert_eq!(ledger.report(1), LedgerReport::default());
    }
}
