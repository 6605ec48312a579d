//! The judge judged: a history without fault is green, and each planted fault turns it red by its own name.

mod concurrency;
mod dead_letters;
mod duplicates;
mod nodes;
mod order;
mod records;
mod struck;

use super::{Tally, Verdict, came_again, check};
use crate::history::{
    ATTEMPTS_USED_UP, Answer, Arrival, Destination, End, Fate, Fault, History, Limit, Line, Moment, Posted,
    Record, SECOND, Struck,
};

const MS: Moment = SECOND / 1000;
/// All kinds of event that there are here.
const ORDERS: u8 = 0;
const UNORDERED: usize = 0;
const STRICT: usize = 1;
const BY_KEY: usize = 2;
/// Owed other events only.
const ELSEWHERE: usize = 3;

fn destination(name: &str, kind: u8, line: Line, max_concurrency: u32) -> Destination {
    Destination {
        name: name.to_owned(),
        kinds: vec![kind],
        line,
        limits: vec![Limit { from: 0, max_concurrency }],
        timeout: 3 * SECOND,
        attempts_max: 3,
    }
}

/// The event's id is its body's hash and a thousand.
fn posted(body: u64) -> Posted {
    let began = body * 100 * MS;
    let (answered, event) = (began + 10 * MS, Some(body + 1000));
    Posted { body, kind: ORDERS, key: (body % 2) as u16, began, answered, fate: Fate::Accepted, event }
}

/// Taken within 40 ms, long before the next is posted.
fn arrival(destination: usize, body: u64) -> Arrival {
    let began = body * 100 * MS + 20 * MS;
    Arrival {
        destination,
        event: body + 1000,
        body,
        attempt: 1,
        node: 0,
        began,
        ended: began + 40 * MS,
        answer: Answer::Taken,
        again_after: 300 * MS,
    }
}

fn record(destination: usize, body: u64) -> Record {
    Record {
        event: body + 1000,
        destination,
        end: End::Delivered,
        attempts: vec![1],
        timed_out: Vec::new(),
        answered: 1,
        heard: Vec::new(),
        successes: 1,
        reason: None,
    }
}

/// Given up on after all attempts that the destinations here allow.
fn dead_letter(destination: usize, body: u64) -> Record {
    Record {
        end: End::DeadLetter,
        attempts: vec![1, 2, 3],
        successes: 0,
        reason: Some(ATTEMPTS_USED_UP.to_owned()),
        ..record(destination, body)
    }
}

/// Ten events, each taken once by each destination that is owed it; no faults.
fn clean() -> History {
    let owed = [UNORDERED, STRICT, BY_KEY];
    History {
        destinations: vec![
            destination("/unordered", ORDERS, Line::Unordered, 2),
            destination("/strict", ORDERS, Line::Strict, 5),
            destination("/by-key", ORDERS, Line::ByKey, 5),
            destination("/elsewhere", 1, Line::Unordered, 2),
        ],
        posted: (0..10).map(posted).collect(),
        arrivals: (0..10).flat_map(|body| owed.map(|index| arrival(index, body))).collect(),
        faults: Vec::new(),
        records: (0..10).flat_map(|body| owed.map(|index| record(index, body))).collect(),
        heard_within: 100 * MS,
    }
}

fn arrival_of(history: &mut History, destination: usize, body: u64) -> &mut Arrival {
    let is_it = |arrival: &&mut Arrival| (arrival.destination, arrival.body) == (destination, body);
    history.arrivals.iter_mut().find(is_it).unwrap()
}

fn fault(from: Moment, until: Moment) -> Fault {
    Fault { what: "kill".to_owned(), struck: Struck::All, from, until }
}

/// Judges what is left of a clean history after this; gives the tally of one destination.
fn judged(destination: usize, plant: impl FnOnce(&mut History)) -> (Tally, Verdict) {
    let mut history = clean();
    plant(&mut history);
    let verdict = check(&history);
    (verdict.tallies[destination].1, verdict)
}

/// The plant turns the run red, by this column and by no other.
fn check_red(destination: usize, column: &str, plant: impl FnOnce(&mut History)) {
    let (_, verdict) = judged(destination, plant);
    assert!(!verdict.is_green(), "{verdict:#?}");
    let begins = format!("{column}: ");
    assert!(verdict.findings.iter().all(|finding| finding.starts_with(&begins)), "{:#?}", verdict.findings);
    let columns = verdict.tallies[destination].1.columns();
    let counted = columns.iter().find(|(name, _)| *name == column).unwrap().1;
    assert_eq!(counted, verdict.findings.len(), "{:#?}", verdict.findings);
}

fn check_green(plant: impl FnOnce(&mut History)) -> Verdict {
    let (_, verdict) = judged(0, plant);
    assert!(verdict.is_green(), "{:#?}", verdict.findings);
    verdict
}

#[test]
fn a_run_in_which_nothing_happened_is_green() {
    let total = check_green(|_| {}).total();
    assert_eq!(total, Tally { ok: 30, ..Tally::default() });
}

#[test]
fn an_event_that_was_dropped_is_lost() {
    check_red(UNORDERED, "lost", |history| {
        history.arrivals.retain(|arrival| (arrival.destination, arrival.body) != (UNORDERED, 4));
        history.records.retain(|record| (record.destination, record.event) != (UNORDERED, 1004));
    });
}

#[test]
fn an_event_that_was_only_ever_failed_is_lost_unless_it_is_a_dead_letter() {
    let failed = |history: &mut History| arrival_of(history, UNORDERED, 4).answer = Answer::Failed;
    check_red(UNORDERED, "lost", |history| {
        failed(history);
        history.records.retain(|record| (record.destination, record.event) != (UNORDERED, 1004));
    });
    let verdict = check_green(|history| {
        failed(history);
        *record_of(history) = dead_letter(UNORDERED, 4);
    });
    assert_eq!(verdict.total(), Tally { ok: 29, dead: 1, ..Tally::default() });
}

#[test]
fn a_changed_byte_is_found() {
    let (tally, verdict) = judged(UNORDERED, |history| arrival_of(history, UNORDERED, 4).body = 77);
    assert_eq!((tally.changed, tally.lost), (1, 1), "{verdict:#?}");
}

#[test]
fn an_event_that_nobody_posted_is_a_phantom() {
    check_red(UNORDERED, "phantom", |history| {
        let at = arrival(UNORDERED, 20);
        history.arrivals.push(at);
    });
}

#[test]
fn an_event_that_was_refused_and_came_is_a_phantom() {
    let (tally, verdict) = judged(UNORDERED, |history| {
        history.posted[4].fate = Fate::Refused;
        history.posted[4].event = None;
        history.records.retain(|record| record.event != 1004);
    });
    assert_eq!(tally.phantom, 1);
    assert!(verdict.findings.iter().all(|finding| finding.starts_with("phantom: ")), "{verdict:#?}");
}

#[test]
fn an_event_that_came_to_somebody_else_is_a_phantom() {
    check_red(ELSEWHERE, "phantom", |history| history.arrivals.push(arrival(ELSEWHERE, 4)));
}

#[test]
fn an_event_that_was_stored_twice_is_a_phantom() {
    let (tally, _) = judged(UNORDERED, |history| {
        let at = arrival(UNORDERED, 4);
        history.arrivals.push(Arrival { event: 2004, began: at.ended + MS, ended: at.ended + 2 * MS, ..at });
    });
    assert_eq!(tally.phantom, 1);
}

#[test]
fn an_event_whose_sender_never_heard_may_come_and_may_not() {
    let unknown = |history: &mut History| {
        history.posted[4].fate = Fate::Unknown;
        history.posted[4].event = None;
        history.records.retain(|record| record.event != 1004);
    };
    assert_eq!(check_green(unknown).total().unknown, 3);
    check_green(|history| {
        unknown(history);
        history.arrivals.retain(|arrival| arrival.body != 4);
    });
}

/// Body 4 came again 300 ms after it was taken.
fn twice(history: &mut History) {
    twice_after(history, 300 * MS);
}

/// Body 4 came again so long after it was taken; gives when.
fn twice_after(history: &mut History, pause: Moment) -> Moment {
    let at = arrival(UNORDERED, 4);
    let began = at.ended + pause;
    history.arrivals.push(Arrival { began, ended: began + MS, attempt: 2, ..at });
    began
}

#[test]
fn a_retry_is_no_duplicate_and_keeps_its_time() {
    let failed = |history: &mut History, wait: Moment| {
        arrival_of(history, UNORDERED, 4).answer = Answer::Failed;
        let at = arrival(UNORDERED, 4);
        history.arrivals.push(Arrival { began: at.ended + wait, ended: at.ended + wait, attempt: 2, ..at });
    };
    check_green(|history| failed(history, 300 * MS));
    check_red(UNORDERED, "undisciplined", |history| failed(history, 200 * MS));
}

#[test]
fn an_attempt_past_the_last_is_undisciplined() {
    check_red(UNORDERED, "undisciplined", |history| arrival_of(history, UNORDERED, 4).attempt = 4);
}

fn record_of(history: &mut History) -> &mut Record {
    history.records.iter_mut().find(|record| (record.destination, record.event) == (UNORDERED, 1004)).unwrap()
}
