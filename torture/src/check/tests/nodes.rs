//! A fault of one node explains what that node sent, and nothing of the others.

use super::*;

/// What came first of body 4 was sent by this node, which a fault struck or did not.
fn struck(history: &mut History, struck: Struck, sent_by: usize) {
    let first = arrival_of(history, UNORDERED, 4);
    first.node = sent_by;
    let during = first.began + MS;
    history.faults.push(Fault { struck, ..fault(during, during) });
}

#[test]
fn a_duplicate_of_a_node_that_nothing_happened_to_is_unexplained() {
    let twice_by = |whom: Struck, sent_by: usize| {
        move |history: &mut History| {
            twice(history);
            struck(history, whom, sent_by);
        }
    };
    check_red(UNORDERED, "unexplained", twice_by(Struck::Node(0), 1));
    let verdict = check_green(twice_by(Struck::Node(1), 1));
    assert_eq!(verdict.tallies[UNORDERED].1.duplicate, 1);
    check_green(twice_by(Struck::All, 1));
}

#[test]
fn a_retry_before_its_time_after_a_node_that_nothing_happened_to_is_undisciplined() {
    let early_by = |whom: Struck, sent_by: usize| {
        move |history: &mut History| {
            let first = arrival_of(history, UNORDERED, 4);
            first.answer = Answer::Failed;
            let began = first.ended + 200 * MS;
            let again = Arrival { began, ended: began, attempt: 2, ..arrival(UNORDERED, 4) };
            history.arrivals.push(again);
            struck(history, whom, sent_by);
        }
    };
    check_red(UNORDERED, "undisciplined", early_by(Struck::Node(0), 1));
    check_green(early_by(Struck::Node(1), 1));
}

/// Bodies 2 to 4 are open at once, one more than the limit. The first two were sent by this node.
fn three_at_once(whom: Struck, sent_by: usize) -> impl FnOnce(&mut History) {
    move |history: &mut History| {
        (2..5).for_each(|body| arrival_of(history, UNORDERED, body).ended = SECOND);
        (2..4).for_each(|body| arrival_of(history, UNORDERED, body).node = sent_by);
        let before_the_third = arrival(UNORDERED, 4).began - MS;
        history.faults.push(Fault { struck: whom, ..fault(before_the_third, before_the_third) });
    }
}

#[test]
fn what_is_open_by_a_node_that_nothing_happened_to_counts() {
    check_green(three_at_once(Struck::Node(1), 1));
    check_red(UNORDERED, "over-concurrency", three_at_once(Struck::Node(2), 1));
}

#[test]
fn a_fault_adds_its_limit_only_for_what_it_may_have_cut_off() {
    // Bodies 2 to 6 are open at once, and but for the last they were sent by node 0: more than two limits.
    let five_at_once = |second: Struck| {
        move |history: &mut History| {
            let ended = arrival(UNORDERED, 6).began + MS;
            (2..=6).for_each(|body| arrival_of(history, UNORDERED, body).ended = ended);
            arrival_of(history, UNORDERED, 6).node = 1;
            let during = arrival(UNORDERED, 2).began;
            let cut = [Struck::Node(0), second].map(|struck| Fault { struck, ..fault(during, SECOND) });
            history.faults.extend(cut);
        }
    };
    check_green(five_at_once(Struck::Node(0)));
    check_red(UNORDERED, "over-concurrency", five_at_once(Struck::Node(2)));
}
