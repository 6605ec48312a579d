//! A history in the order in which it is judged: arrivals by delivery, the ledger by body and by event.

use crate::history::{Answer, Arrival, End, Fault, History, Moment, Posted, SECOND};
use crate::rig::window::{RECORDED_LATE, Window};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A delivery is named by its destination and the body that only one event has.
pub(super) type Delivery = (usize, u64);

pub(super) struct Sorted<'h> {
    pub(super) history: &'h History,
    pub(super) by_body: HashMap<u64, &'h Posted>,
    pub(super) by_event: HashMap<u64, &'h Posted>,
    /// Each in the order in which its requests were read.
    pub(super) deliveries: BTreeMap<Delivery, Vec<&'h Arrival>>,
    /// By destination and event.
    pub(super) dead: HashSet<(usize, u64)>,
    /// By destination, event and number.
    timed_out: HashSet<(usize, u64, u32)>,
    /// By destination, event and when it was read.
    heard: HashSet<(usize, u64, Moment)>,
}

impl<'h> Sorted<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let by_body: HashMap<u64, &Posted> =
            history.posted.iter().map(|posted| (posted.body, posted)).collect();
        assert_eq!(by_body.len(), history.posted.len(), "bodies are unique");
        let by_event = history.posted.iter().filter_map(|posted| Some((posted.event?, posted))).collect();
        let mut deliveries: BTreeMap<Delivery, Vec<&Arrival>> = BTreeMap::new();
        for arrival in &history.arrivals {
            deliveries.entry((arrival.destination, arrival.body)).or_default().push(arrival);
        }
        deliveries.values_mut().for_each(|arrivals| arrivals.sort_by_key(|arrival| arrival.began));
        let dead = history.records.iter().filter(|record| record.end == End::DeadLetter);
        let dead = dead.map(|record| (record.destination, record.event)).collect();
        let timed_out = history.records.iter().flat_map(|record| {
            record.timed_out.iter().map(|number| (record.destination, record.event, *number))
        });
        let timed_out = timed_out.collect();
        let heard = history
            .records
            .iter()
            .flat_map(|record| record.heard.iter().map(|read| (record.destination, record.event, *read)));
        let heard = heard.collect();
        Sorted { history, by_body, by_event, deliveries, dead, timed_out, heard }
    }

    /// Whether an attempt was in flight, or not recorded yet, while whoever sent it was struck by a fault.
    pub(super) fn is_cut_off(&self, attempt: &Arrival) -> bool {
        self.history.faults.iter().any(|fault| may_cut_off(fault, attempt))
    }

    /// Whether such a fault had begun when the same delivery came again: one that came later explains nothing. Nor does
    /// any when the answer is on record: what was cut off is never written down later.
    pub(super) fn is_cut_off_before(&self, attempt: &Arrival, again: &Arrival) -> bool {
        let cuts_off = |fault: &Fault| fault.from <= again.began && may_cut_off(fault, attempt);
        !self.is_on_record(attempt) && self.history.faults.iter().any(cuts_off)
    }

    /// Whether the gateway has the answer to this very request on record, and not to another under the same number.
    fn is_on_record(&self, attempt: &Arrival) -> bool {
        self.heard.contains(&(attempt.destination, attempt.event, attempt.began))
    }

    /// Whether its sender had given it up when it was answered.
    pub(super) fn timed_out(&self, attempt: &Arrival) -> bool {
        self.timed_out.contains(&(attempt.destination, attempt.event, attempt.attempt))
    }

    pub(super) fn arrivals_of(&self, destination: usize, posted: &Posted) -> &[&'h Arrival] {
        self.deliveries.get(&(destination, posted.body)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_dead(&self, destination: usize, posted: &Posted) -> bool {
        posted.event.is_some_and(|event| self.dead.contains(&(destination, event)))
    }

    pub(super) fn name(&self, destination: usize) -> &'h str {
        &self.history.destinations[destination].name
    }
}

/// Whether a fault struck the sender of an attempt while it was in flight, or not recorded yet.
pub(super) fn may_cut_off(fault: &Fault, attempt: &Arrival) -> bool {
    let late = RECORDED_LATE.as_micros() as Moment;
    let open = Window { from: attempt.began, until: attempt.ended + late };
    fault.strikes(attempt.node) && Window { from: fault.from, until: fault.until }.touches(&open)
}

pub(super) fn was_taken(arrivals: &[&Arrival]) -> bool {
    arrivals.iter().any(|arrival| arrival.answer == Answer::Taken)
}

/// A moment as people read it.
pub(super) fn seconds(moment: Moment) -> String {
    format!("{}.{:06} s", moment / SECOND, moment % SECOND)
}
