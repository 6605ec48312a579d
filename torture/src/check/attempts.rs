//! G6: attempts are bounded, none comes before its time, and nothing is given up on before the last.

use super::sorted::{Sorted, seconds};
use super::tally::Tally;
use crate::history::{ATTEMPTS_USED_UP, Answer, Arrival, End, Moment, Record};
use std::collections::BTreeSet;

/// Between the sink's clock and the gateway's view of the same moment.
const EARLY: Moment = 20_000;

pub(super) fn judge(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    for arrivals in sorted.deliveries.values() {
        judge_made(sorted, arrivals, tallies, findings);
    }
    let dead = sorted.history.records.iter().filter(|record| record.end == End::DeadLetter);
    for (record, why) in dead.filter_map(|record| Some((record, premature(sorted, record)?))) {
        tallies[record.destination].undisciplined += 1;
        let name = sorted.name(record.destination);
        findings.push(format!("undisciplined: a delivery to {name} was given up on {why}"));
    }
}

/// The attempts of one delivery, as they arrived.
fn judge_made(sorted: &Sorted, arrivals: &[&Arrival], tallies: &mut [Tally], findings: &mut Vec<String>) {
    let index = arrivals[0].destination;
    let most = sorted.history.destinations[index].attempts_max;
    for arrival in arrivals.iter().filter(|arrival| arrival.attempt > most) {
        tallies[index].undisciplined += 1;
        let (name, number) = (sorted.name(index), arrival.attempt);
        findings.push(format!("undisciplined: attempt {number} at {name}, of {most} at most"));
    }
    for pair in arrivals.windows(2).filter(|pair| is_early(sorted, pair[0], pair[1])) {
        tallies[index].undisciplined += 1;
        let (ended, began) = (seconds(pair[0].ended), seconds(pair[1].began));
        let (name, wait) = (sorted.name(index), seconds(pair[0].again_after));
        findings.push(format!(
            "undisciplined: {name} failed it at {ended}, and it came at {began}, before {wait} had passed"
        ));
    }
}

/// What is wrong with when a dead letter was given up on, if anything.
///
/// The destinations of a run have no age, no final status and no transform, and none is deleted or answers 410: only the
/// last attempt ends a delivery. By the gateway's own record and not by what arrived: an attempt that a kill cut off is
/// made again under its number, and one that was never read by the receiver counts all the same.
fn premature(sorted: &Sorted, record: &Record) -> Option<String> {
    let most = sorted.history.destinations[record.destination].attempts_max;
    let made = record.attempts.iter().collect::<BTreeSet<_>>().len();
    if made < most as usize {
        return Some(format!("after {made} attempts of {most}"));
    }
    match record.reason.as_deref() {
        Some(ATTEMPTS_USED_UP) => None,
        other => Some(format!("for a reason that it cannot have: {}", other.unwrap_or("none"))),
    }
}

/// Only after an answer: of one that was cut the sink learns late that it ended.
fn is_early(sorted: &Sorted, before: &Arrival, again: &Arrival) -> bool {
    let wait = again.began.saturating_sub(before.ended) + EARLY;
    before.answer == Answer::Failed && wait < before.again_after && !sorted.is_cut_off_before(before, again)
}
