//! G5: an event is first sent only after all before it, of its line, are done with.
//!
//! One is before another when its sender had the answer before the other was posted. Of two that were posted at the same
//! time either may be first. Which nodes took them makes no difference.

use super::sorted::{Sorted, seconds};
use super::tally::Tally;
use crate::history::{Answer, Arrival, Fate, Line, Moment, Posted};
use std::collections::BTreeMap;

struct Sent<'h> {
    posted: &'h Posted,
    first: Moment,
    /// When it was taken, or tried for the last time.
    done: Moment,
}

pub(super) fn judge(sorted: &Sorted, tallies: &mut [Tally], findings: &mut Vec<String>) {
    for (index, destination) in sorted.history.destinations.iter().enumerate() {
        let mut lines: BTreeMap<Option<u16>, Vec<Sent>> = BTreeMap::new();
        for (_, arrivals) in sorted.deliveries.range((index, 0)..=(index, u64::MAX)) {
            let Some(posted) = sorted.by_body.get(&arrivals[0].body) else { continue };
            let line = match destination.line {
                Line::Unordered => continue,
                Line::Strict => None,
                Line::ByKey => Some(posted.key),
            };
            lines.entry(line).or_default().push(sent(posted, arrivals));
        }
        for line in lines.values() {
            for (before, after) in misordered(line) {
                tallies[index].misordered += 1;
                findings.push(format!(
                    "misordered: at {} came at {} what had to wait for one that was done at {}",
                    destination.name,
                    seconds(after.first),
                    seconds(before.done)
                ));
            }
        }
    }
}

fn sent<'h>(posted: &'h Posted, arrivals: &[&Arrival]) -> Sent<'h> {
    let last = arrivals[arrivals.len() - 1];
    let taken = arrivals.iter().find(|arrival| arrival.answer == Answer::Taken);
    // One that was cut ends at the sink only when its sender is seen to be gone.
    let done = taken.map_or(last.began, |taken| taken.ended.max(last.began));
    Sent { posted, first: arrivals[0].began, done }
}

/// What was sent too early, each with one that it had to wait for.
fn misordered<'s, 'h>(line: &'s [Sent<'h>]) -> Vec<(&'s Sent<'h>, &'s Sent<'h>)> {
    let mut by_began: Vec<&Sent> = line.iter().collect();
    by_began.sort_by_key(|sent| sent.posted.began);
    let mut by_answered: Vec<&Sent> = line.iter().filter(|sent| sent.posted.fate == Fate::Accepted).collect();
    by_answered.sort_by_key(|sent| sent.posted.answered);
    let mut before = by_answered.into_iter().peekable();
    let mut last_done: Option<&Sent> = None;
    let mut found = Vec::new();
    for sent in by_began {
        let is_before = |earlier: &&Sent| earlier.posted.answered < sent.posted.began;
        while let Some(earlier) = before.next_if(is_before) {
            last_done =
                Some(last_done.map_or(earlier, |last| if last.done < earlier.done { earlier } else { last }));
        }
        found.extend(last_done.filter(|earlier| earlier.done > sent.first).map(|earlier| (earlier, sent)));
    }
    found
}
