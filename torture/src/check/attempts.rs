//! G6: attempts are bounded, and none comes before its time.

use super::sorted::{Sorted, seconds};
use super::tally::Tally;
use crate::history::{Answer, Arrival, Moment};

/// Between the sink's clock and the gateway's view of the same moment.
const EARLY: Moment = 20_000;

pub(super) fn judge(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    for arrivals in sorted.deliveries.values() {
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
}

/// Only after an answer: of one that was cut the sink learns late that it ended.
fn is_early(sorted: &Sorted, before: &Arrival, again: &Arrival) -> bool {
    let wait = again.began.saturating_sub(before.ended) + EARLY;
    before.answer == Answer::Failed && wait < before.again_after && !sorted.is_cut_off(before)
}
