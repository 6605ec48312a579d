//! G1, G2, G3: what was accepted ends, the right bytes at the right place, and again only where a fault explains it.

use super::sorted::{Sorted, seconds, was_taken};
use super::tally::Tally;
use crate::history::{Answer, Arrival, Fate};

pub(super) fn judge(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    judge_owed(sorted, tallies, findings);
    for arrivals in sorted.deliveries.values() {
        judge_right(sorted, arrivals, tallies, findings);
        judge_again(sorted, arrivals, tallies, findings);
    }
}

/// Each accepted event, at each destination that is owed it.
fn judge_owed(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    for posted in &sorted.history.posted {
        let owed = sorted.history.destinations.iter().enumerate();
        for (index, destination) in owed.filter(|(_, destination)| destination.kinds.contains(&posted.kind)) {
            let arrivals = sorted.arrivals_of(index, posted);
            match posted.fate {
                Fate::Accepted if was_taken(arrivals) => tallies[index].ok += 1,
                Fate::Accepted if sorted.is_dead(index, posted) => tallies[index].dead += 1,
                Fate::Accepted => {
                    tallies[index].lost += 1;
                    let (at, came) = (seconds(posted.answered), arrivals.len());
                    findings.push(format!(
                        "lost: accepted at {at}, arrived {came} times at {}, never taken",
                        destination.name
                    ));
                }
                Fate::Unknown if !arrivals.is_empty() => tallies[index].unknown += 1,
                Fate::Unknown | Fate::Refused => {}
            }
        }
    }
}

/// Whether what arrived is what was posted, and owed to where it came.
fn judge_right(sorted: &Sorted, arrivals: &[&Arrival], tallies: &mut [Tally], findings: &mut Vec<String>) {
    let first = arrivals[0];
    let (tally, name) = (&mut tallies[first.destination], sorted.name(first.destination));
    let at = seconds(first.began);
    let Some(posted) = sorted.by_body.get(&first.body) else {
        if sorted.by_event.contains_key(&first.event) {
            tally.changed += 1;
            findings.push(format!("changed: an event came to {name} at {at} with bytes that nobody posted"));
        } else {
            tally.phantom += 1;
            findings.push(format!("phantom: nobody posted what came to {name} at {at}"));
        }
        return;
    };
    let owed = sorted.history.destinations[first.destination].kinds.contains(&posted.kind);
    if !owed || posted.fate == Fate::Refused {
        tally.phantom += 1;
        let why = if owed { "was refused" } else { "is not owed to it" };
        findings.push(format!("phantom: what came to {name} at {at} {why}"));
    }
    let ids = arrivals.iter().map(|arrival| arrival.event).collect::<std::collections::BTreeSet<_>>();
    if ids.len() > 1 || posted.event.is_some_and(|event| !ids.contains(&event)) {
        tally.phantom += 1;
        findings.push(format!("phantom: what came to {name} at {at} was stored more than once"));
    }
}

/// One that came although an earlier one had been taken, or was in flight.
pub(super) struct Again<'h> {
    pub(super) arrival: &'h Arrival,
    before: &'h Arrival,
    is_explained: bool,
}

/// Of one delivery, each time that it came again.
pub(super) fn again<'h>(sorted: &Sorted<'h>, arrivals: &[&'h Arrival]) -> Vec<Again<'h>> {
    let mut found = Vec::new();
    for (index, arrival) in arrivals.iter().enumerate().skip(1) {
        let earlier = &arrivals[..index];
        let taken = earlier.iter().rev().find(|earlier| earlier.answer == Answer::Taken);
        let in_flight = earlier.iter().rev().find(|earlier| earlier.ended > arrival.began);
        let Some(before) = taken.or(in_flight) else { continue };
        let is_explained = sorted.is_cut_off_before(before, arrival) || sorted.timed_out(before);
        found.push(Again { arrival, before, is_explained });
    }
    found
}

fn judge_again(sorted: &Sorted, arrivals: &[&Arrival], tallies: &mut [Tally], findings: &mut Vec<String>) {
    for Again { arrival, before, is_explained } in again(sorted, arrivals) {
        if is_explained {
            tallies[arrival.destination].duplicate += 1;
        } else {
            tallies[arrival.destination].unexplained += 1;
            let name = sorted.name(arrival.destination);
            let (ended, began) = (seconds(before.ended), seconds(arrival.began));
            findings.push(format!(
                "unexplained: {name} had taken it at {ended}, and it came again at {began} as attempt {}",
                arrival.attempt
            ));
        }
    }
}
