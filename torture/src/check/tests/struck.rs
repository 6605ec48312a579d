//! What was on its way at a fault is looked at on record.

use super::*;
use crate::check::struck;

/// The bodies whose events are chosen after these faults.
fn chosen(faults: Vec<Fault>, most: usize) -> Vec<u64> {
    let mut history = clean();
    // Bodies 0 to 4 were sent by node 0, the others by node 1.
    history.arrivals.iter_mut().for_each(|arrival| arrival.node = usize::from(arrival.body > 4));
    // Nobody posts while a fault lasts, but where a test says so.
    history.posted.iter_mut().for_each(|posted| posted.answered = posted.began);
    history.faults = faults;
    struck(&history, most).into_iter().map(|event| event - 1000).collect()
}

fn of_node(node: usize, at: Moment) -> Fault {
    Fault { struck: Struck::Node(node), ..fault(at, at) }
}

/// While body's attempts are open.
fn during(body: u64) -> Moment {
    arrival(UNORDERED, body).began + MS
}

#[test]
fn an_event_that_was_in_flight_when_its_node_was_struck_is_looked_at_first() {
    for body in 0..5 {
        assert_eq!(chosen(vec![of_node(0, during(body))], 1), [body]);
    }
}

#[test]
fn what_was_not_recorded_yet_is_looked_at_and_what_came_after_the_fault_is_not() {
    assert_eq!(chosen(vec![of_node(0, during(2))], 100), [0, 1, 2]);
    assert!(chosen(vec![of_node(0, during(4) + 10 * SECOND)], 100).is_empty());
}

#[test]
fn what_another_node_sent_is_left_alone_unless_all_were_struck() {
    assert!(chosen(vec![of_node(1, during(4))], 100).is_empty());
    // Body 0 was answered more than half a second before, and is on record.
    assert_eq!(chosen(vec![fault(during(6), during(6))], 100), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn an_event_that_was_posted_while_a_fault_lasted_is_looked_at() {
    let mut history = clean();
    let at = posted(4).began + MS;
    history.arrivals.clear();
    history.faults = vec![of_node(2, at)];
    assert_eq!(struck(&history, 100).into_iter().collect::<Vec<_>>(), [1004]);
}

#[test]
fn a_fault_in_which_much_was_sent_leaves_room_for_the_others() {
    let long = Fault { until: during(3), ..of_node(0, 0) };
    let short = of_node(1, during(9));
    assert_eq!(chosen(vec![long.clone(), short.clone()], 2), [0, 9]);
    assert_eq!(chosen(vec![short, long], 3), [0, 8, 9]);
}
