//! What came again, and whether a fault explains it.

use super::*;

#[test]
fn a_duplicate_outside_of_any_fault_is_unexplained() {
    check_red(UNORDERED, "unexplained", twice);
    check_red(UNORDERED, "unexplained", |history| {
        twice(history);
        history.faults.push(fault(0, arrival(UNORDERED, 4).began - MS));
        history.faults.push(fault(arrival(UNORDERED, 4).ended + 3 * SECOND, 100 * SECOND));
    });
}

#[test]
fn a_duplicate_of_what_was_in_flight_in_a_fault_is_explained() {
    let during = arrival(UNORDERED, 4).began + MS;
    let verdict = check_green(|history| {
        twice(history);
        history.faults.push(fault(during, during));
    });
    assert_eq!(verdict.tallies[UNORDERED].1.duplicate, 1);
}

#[test]
fn a_duplicate_of_what_was_answered_long_before_a_fault_is_unexplained() {
    let struck_after = |pause: Moment| {
        move |history: &mut History| {
            twice_after(history, SECOND);
            let at = arrival(UNORDERED, 4).ended + pause;
            history.faults.push(fault(at, at));
        }
    };
    check_green(struck_after(400 * MS));
    check_red(UNORDERED, "unexplained", struck_after(600 * MS));
}

#[test]
fn a_duplicate_of_what_is_on_record_is_unexplained_even_in_a_fault() {
    let first = arrival(UNORDERED, 4).began;
    let heard = |which: fn(Moment, Moment) -> Vec<Moment>| {
        move |history: &mut History| {
            let second = twice_after(history, SECOND);
            record_of(history).heard = which(first, second);
            history.faults.push(fault(first + MS, first + MS));
        }
    };
    check_green(heard(|_, second| vec![second]));
    check_red(UNORDERED, "unexplained", heard(|first, _| vec![first]));
    check_red(UNORDERED, "unexplained", heard(|first, second| vec![first, second]));
}

#[test]
fn a_retry_before_its_time_of_what_is_on_record_is_undisciplined_even_in_a_fault() {
    let early = |heard: fn(Moment) -> Vec<Moment>| {
        move |history: &mut History| {
            arrival_of(history, UNORDERED, 4).answer = Answer::Failed;
            twice_after(history, 200 * MS);
            let first = arrival(UNORDERED, 4).began;
            record_of(history).heard = heard(first);
            history.faults.push(fault(first + MS, first + MS));
        }
    };
    check_green(early(|_| Vec::new()));
    check_red(UNORDERED, "undisciplined", early(|first| vec![first]));
}

#[test]
fn a_duplicate_before_a_fault_is_not_explained_by_it() {
    let after = arrival(UNORDERED, 4).ended + 300 * MS + MS;
    check_red(UNORDERED, "unexplained", |history| {
        twice(history);
        history.faults.push(fault(after, after));
    });
    check_green(|history| {
        twice(history);
        history.faults.push(fault(after - MS, after));
    });
}

#[test]
fn arrivals_that_a_fault_could_explain_a_second_of_are_counted() {
    assert_eq!(check_green(|_| {}).excusable, 0);
    let at = arrival(UNORDERED, 4).began;
    // Of each of the bodies 0 to 4 three attempts were in flight, or not recorded yet.
    assert_eq!(check_green(|history| history.faults.push(fault(at, at))).excusable, 15);
    let of_another = Fault { struck: Struck::Node(1), ..fault(at, at) };
    assert_eq!(check_green(|history| history.faults.push(of_another)).excusable, 0);
}

#[test]
fn a_duplicate_of_what_was_too_slow_for_its_sender_is_explained() {
    let verdict = check_green(|history| {
        twice(history);
        *record_of(history) = Record { attempts: vec![1, 2], timed_out: vec![1], ..record(UNORDERED, 4) };
    });
    assert_eq!(verdict.tallies[UNORDERED].1.duplicate, 1);
    check_red(UNORDERED, "unexplained", |history| {
        twice(history);
        *record_of(history) = Record { attempts: vec![1, 2], timed_out: vec![2], ..record(UNORDERED, 4) };
    });
}

#[test]
fn whose_record_would_judge_a_duplicate_is_told() {
    let mut history = clean();
    twice(&mut history);
    assert_eq!(came_again(&history), [1004]);
    // Also when a fault explains it so far: its record may say otherwise.
    history.faults.push(fault(0, 100 * SECOND));
    assert_eq!(came_again(&history), [1004]);
}
