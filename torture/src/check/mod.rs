//! The judge: a pure function over ledger, arrivals and faults.
//!
//! Each file judges one thing over the same [`Sorted`] history, and says what it found in sentences. A run is red when
//! anything is found.

mod attempts;
mod concurrency;
mod fates;
mod order;
mod records;
mod sorted;
mod struck;
mod tally;
#[cfg(test)]
mod tests;

use crate::history::History;
use sorted::Sorted;
pub use struck::struck;
pub use tally::Tally;

/// What a run is judged to be.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// For each destination, in their order.
    pub tallies: Vec<(String, Tally)>,
    /// What is wrong, one sentence each; empty when the run is green.
    pub findings: Vec<String>,
    /// How many arrivals a fault may have cut off: had one of these come again, it would have been explained.
    pub excusable: usize,
}

impl Verdict {
    /// Whether every promise was kept.
    pub fn is_green(&self) -> bool {
        self.findings.is_empty()
    }

    /// Over all destinations.
    pub fn total(&self) -> Tally {
        self.tallies.iter().fold(Tally::default(), |sum, (_, tally)| sum.plus(tally))
    }
}

/// The events that came again: what is on record of them may explain it, or say that no fault does.
pub fn came_again(history: &History) -> Vec<u64> {
    let sorted = Sorted::of(history);
    let again = sorted.deliveries.values().flat_map(|arrivals| fates::again(&sorted, arrivals));
    again.map(|again| again.arrival.event).collect()
}

/// Judges a run whose backlog has drained.
pub fn check(history: &History) -> Verdict {
    let sorted = Sorted::of(history);
    let mut tallies = vec![Tally::default(); history.destinations.len()];
    let mut findings = Vec::new();
    for judge in [fates::judge, attempts::judge, order::judge, concurrency::judge, records::judge] {
        judge(&sorted, &mut tallies, &mut findings);
    }
    let names = history.destinations.iter().map(|destination| destination.name.clone());
    let excusable = history.arrivals.iter().filter(|arrival| sorted.is_cut_off(arrival)).count();
    Verdict { tallies: names.zip(tallies).collect(), findings, excusable }
}
