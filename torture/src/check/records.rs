//! G6, G7: what the gateway has on record is what the receiver saw, and each delivery has one end.
//!
//! A node whose work was taken over and that wrote all the same would leave an attempt that nobody saw, a number twice,
//! a second end, or a dead letter over what was delivered.

use super::sorted::{Sorted, seconds, was_taken};
use super::tally::Tally;
use crate::history::{Answer, Arrival, End, Record};
use std::collections::{BTreeSet, HashMap, HashSet};

pub(super) fn judge(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    let mut seen = HashSet::new();
    let mut came: HashMap<(usize, u64), Vec<&Arrival>> = HashMap::new();
    for arrival in &sorted.history.arrivals {
        came.entry((arrival.destination, arrival.event)).or_default().push(arrival);
    }
    for record in &sorted.history.records {
        let mut wrong = Vec::new();
        if !seen.insert((record.destination, record.event)) {
            wrong.push("has two ends".to_owned());
        }
        // By its id: of some events the sender never heard.
        let arrivals = came.get(&(record.destination, record.event)).map_or(&[][..], Vec::as_slice);
        wrong.extend(disagreements(record, arrivals));
        wrong.extend(denied(sorted, record, arrivals));
        for what in wrong {
            tallies[record.destination].forged += 1;
            findings.push(format!("forged: a delivery to {} {what}", sorted.name(record.destination)));
        }
    }
}

fn disagreements(record: &Record, arrivals: &[&Arrival]) -> Vec<String> {
    let mut wrong = Vec::new();
    if record.end == End::Delivered && !was_taken(arrivals) {
        wrong.push("is delivered on record, and the receiver did not take it".to_owned());
    }
    if record.end == End::Pending {
        wrong.push("is still pending after the backlog has drained".to_owned());
    }
    if record.successes > 1 {
        wrong.push(format!("has {} successful attempts on record", record.successes));
    }
    let numbers: BTreeSet<u32> = record.attempts.iter().copied().collect();
    if numbers.len() < record.attempts.len() {
        wrong.push(format!("has a number twice among its attempts: {:?}", record.attempts));
    }
    let came = arrivals.len();
    if record.answered > came {
        wrong.push(format!("has {} answers on record, and {came} attempts came", record.answered));
    }
    wrong
}

/// Why a dead letter was delivered in truth, if it was.
///
/// An answer that a fault may have cut off, or that came too late for its sender, was never heard: to try again after it,
/// and to give up at last, is right.
fn denied(sorted: &Sorted, record: &Record, arrivals: &[&Arrival]) -> Option<String> {
    if record.end != End::DeadLetter {
        return None;
    }
    if record.successes > 0 {
        return Some("is a dead letter, and has a successful attempt on record".to_owned());
    }
    let was_heard = |taken: &&&Arrival| !sorted.is_cut_off(taken) && !sorted.timed_out(taken);
    let taken = arrivals.iter().filter(|arrival| arrival.answer == Answer::Taken).find(was_heard)?;
    Some(format!("is a dead letter, and the receiver took it at {}", seconds(taken.ended)))
}
