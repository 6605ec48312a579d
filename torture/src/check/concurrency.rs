//! G4: no more in flight at the receiver than a destination allows, of an ordered line no more than one.
//!
//! What was in flight at a fault is counted on where it is waited out: at ordered destinations and at those of one at a
//! time. The others go on at once, which is the stated exception to their limit.

use super::sorted::{Sorted, seconds};
use super::tally::Tally;
use crate::history::{Arrival, Destination, Fault, Line, Moment};
use std::collections::BTreeMap;

pub(super) fn judge(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    let mut of_destination: Vec<Vec<&Arrival>> = vec![Vec::new(); tallies.len()];
    for arrival in &sorted.history.arrivals {
        of_destination[arrival.destination].push(arrival);
    }
    for (index, mut arrivals) in of_destination.into_iter().enumerate() {
        arrivals.sort_by_key(|arrival| arrival.began);
        let destination = &sorted.history.destinations[index];
        for excess in excesses(sorted, destination, &arrivals) {
            tallies[index].over_concurrency += 1;
            findings.push(excess);
        }
    }
}

fn excesses(sorted: &Sorted, destination: &Destination, arrivals: &[&Arrival]) -> Vec<String> {
    let faults = &sorted.history.faults;
    let mut in_flight: Vec<&Arrival> = Vec::new();
    let mut found = Vec::new();
    for arrival in arrivals {
        in_flight.retain(|other| end(other, destination) > arrival.began);
        in_flight.push(arrival);
        let limit = destination.limit_at(arrival.began, sorted.history.heard_within);
        let waited_out = limit <= 1 || destination.line != Line::Unordered;
        let counts = |other: &&&Arrival| waited_out || !was_cut_off(other, arrival.began, faults);
        let count = in_flight.iter().filter(counts).count();
        let at = seconds(arrival.began);
        let name = &destination.name;
        if count > limit as usize {
            found.push(format!("over-concurrency: {count} at once at {name} at {at}, of {limit} at most"));
        }
        let in_line = lines(sorted, destination, &in_flight).values().max().copied().unwrap_or(0);
        if in_line > 1 {
            found.push(format!("over-concurrency: {in_line} at once of one line at {name} at {at}"));
        }
    }
    found
}

/// Whoever made the attempt has given it up by its deadline, whenever the sink heard of it.
fn end(arrival: &Arrival, destination: &Destination) -> Moment {
    arrival.ended.min(arrival.began + destination.timeout)
}

fn was_cut_off(arrival: &Arrival, now: Moment, faults: &[Fault]) -> bool {
    faults.iter().any(|fault| arrival.began <= fault.until && fault.from <= now)
}

/// How many are in flight of each line of an ordered destination.
fn lines(sorted: &Sorted, destination: &Destination, in_flight: &[&Arrival]) -> BTreeMap<u16, usize> {
    let mut lines = BTreeMap::new();
    for arrival in in_flight {
        let line = match destination.line {
            Line::Unordered => continue,
            Line::Strict => 0,
            Line::ByKey => match sorted.by_body.get(&arrival.body) {
                Some(posted) => posted.key,
                None => continue,
            },
        };
        *lines.entry(line).or_default() += 1;
    }
    lines
}
