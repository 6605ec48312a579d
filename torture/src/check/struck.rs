//! Which events a node may have written about after its work was taken over: those that were on their way at a fault.

use super::sorted::may_cut_off;
use crate::history::{Fault, History, Moment};
use crate::rig::window::Window;
use std::collections::BTreeSet;

/// The events that were sent by a node, or posted, while a fault struck, and no more than so many.
///
/// Faults take turns, so that a long one leaves room for the others. Of each, what was open at its beginning comes
/// first: a node that is frozen or cut off has that in its hands when another takes over.
pub fn struck(history: &History, most: usize) -> BTreeSet<u64> {
    let queue = |fault| nearest_first(history, fault).into_iter();
    let mut queues: Vec<_> = history.faults.iter().map(queue).collect();
    let mut chosen = BTreeSet::new();
    loop {
        let before = chosen.len();
        for queue in &mut queues {
            if chosen.len() == most {
                return chosen;
            }
            let next = queue.find(|event| !chosen.contains(event));
            chosen.extend(next);
        }
        if chosen.len() == before {
            return chosen;
        }
    }
}

/// All events on their way at a fault, by how far from its beginning they were open.
fn nearest_first(history: &History, fault: &Fault) -> Vec<u64> {
    let sent = history.arrivals.iter().filter(|arrival| may_cut_off(fault, arrival));
    let sent = sent.map(|arrival| (Window { from: arrival.began, until: arrival.ended }, arrival.event));
    let lasts = Window { from: fault.from, until: fault.until };
    let posted = history.posted.iter().filter_map(|posted| {
        let open = Window { from: posted.began, until: posted.answered };
        posted.event.filter(|_| open.touches(&lasts)).map(|event| (open, event))
    });
    let mut found: Vec<(Moment, u64)> =
        sent.chain(posted).map(|(open, event)| (apart(&open, fault.from), event)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, event)| event).collect()
}

/// How far a moment is from a window; 0 when it is in it.
fn apart(window: &Window<Moment>, moment: Moment) -> Moment {
    window.from.saturating_sub(moment).max(moment.saturating_sub(window.until))
}
