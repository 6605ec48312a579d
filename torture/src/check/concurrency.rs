//! G4: no more in flight at the receiver than a destination allows, of an ordered line no more than one.
//!
//! What was in flight at a fault is counted on where it is waited out: at ordered destinations and at those of one at a
//! time. The others go on at once, which is the stated exception to their limit: what the dead had open and what its
//! successor opens make twice the limit, and no more.

use super::sorted::{Sorted, seconds};
use super::tally::Tally;
use crate::history::{Arrival, Destination, Fault, History, Line, Moment};
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
        } else if in_flight.len() > most_in_faults(sorted, destination, &in_flight) {
            let count = in_flight.len();
            found.push(format!(
                "over-concurrency: {count} at once at {name} at {at}, even with what faults explain"
            ));
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
    faults.iter().any(|fault| is_cut_off_by(fault, arrival, now))
}

fn is_cut_off_by(fault: &Fault, arrival: &Arrival, now: Moment) -> bool {
    fault.strikes(arrival.node) && arrival.began <= fault.until && fault.from <= now
}

/// As many as may be in flight when the last of these arrives, with all that faults explain.
///
/// Whoever sends to a destination keeps to its limit, and only a fault gives it to another who does not count what is
/// open: an orderly stop or handover lets attempts end first. So each fault that struck the sender of one of these since
/// it began adds one limit at most, and one fault makes twice the limit. A node that goes on until its lease ends opens requests within the
/// fault, so which of these were open when it began says nothing. The dead kept to the limit of their time, which may
/// have been higher.
fn most_in_faults(sorted: &Sorted, destination: &Destination, in_flight: &[&Arrival]) -> usize {
    let History { faults, heard_within, .. } = sorted.history;
    let last = in_flight[in_flight.len() - 1];
    let cuts_off = |fault: &&Fault| in_flight.iter().any(|open| is_cut_off_by(fault, open, last.began));
    let since = faults.iter().filter(cuts_off).count();
    let limit = |arrival: &Arrival| destination.limit_at(arrival.began, *heard_within) as usize;
    let highest = in_flight.iter().map(|arrival| limit(arrival)).max().unwrap_or(0);
    limit(last) + since * highest
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
