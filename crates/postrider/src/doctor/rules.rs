//! What is wrong with a gateway, from what was seen of it: one rule a function, pure.

mod accounts;
mod advice;
#[cfg(test)]
mod advice_tests;
mod capacity;
mod causes;
mod certificates;
mod depth;
mod destinations;
mod gateway;
mod store;
#[cfg(test)]
mod tests;

use super::finding::Finding;
use super::snapshot::Snapshot;

/// Everything that is wrong.
pub(super) fn all(seen: &Snapshot) -> Vec<Finding> {
    let rules: [fn(&Snapshot) -> Vec<Finding>; 27] = [
        gateway::not_ready,
        gateway::shedding,
        gateway::unowned,
        gateway::shortages,
        gateway::clock,
        store::disk,
        store::slow,
        accounts::keys,
        accounts::deaths,
        accounts::unrouted,
        accounts::unseen,
        destinations::responsible,
        destinations::circuits,
        destinations::stopped,
        destinations::blocked,
        depth::destinations,
        depth::limited,
        depth::queue,
        depth::critical,
        depth::bulk,
        depth::late,
        capacity::saturated,
        capacity::lag,
        capacity::starved,
        capacity::retries,
        causes::common,
        certificates::ending,
    ];
    rules.iter().flat_map(|rule| rule(seen)).collect()
}
