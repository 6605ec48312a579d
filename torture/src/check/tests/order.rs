//! What came in the wrong order.

use super::*;

#[test]
fn a_swapped_pair_is_misordered() {
    check_red(STRICT, "misordered", |history| {
        let (third, fourth) = (arrival(STRICT, 3).began, arrival(STRICT, 4).began);
        *arrival_of(history, STRICT, 3) = Arrival { began: fourth, ended: fourth + MS, ..arrival(STRICT, 3) };
        *arrival_of(history, STRICT, 4) = Arrival { began: third, ended: third + MS, ..arrival(STRICT, 4) };
    });
}

#[test]
fn a_pair_of_one_key_that_is_swapped_is_misordered_and_of_two_keys_is_not() {
    let swap = |one: u64, other: u64| {
        move |history: &mut History| {
            let (first, second) = (arrival(BY_KEY, one).began, arrival(BY_KEY, other).began);
            let moved = |body, began| Arrival { began, ended: began + MS, ..arrival(BY_KEY, body) };
            *arrival_of(history, BY_KEY, one) = moved(one, second + 2 * MS);
            *arrival_of(history, BY_KEY, other) = moved(other, first);
        }
    };
    check_red(BY_KEY, "misordered", swap(2, 4));
    check_green(swap(2, 3));
}

#[test]
fn one_that_comes_again_after_its_successor_is_misordered_even_in_a_fault() {
    check_red(STRICT, "misordered", |history| {
        let began = arrival(STRICT, 4).ended + MS;
        history.arrivals.push(Arrival { began, ended: began + MS, attempt: 2, ..arrival(STRICT, 3) });
        history.faults.push(fault(0, 100 * SECOND));
    });
}

#[test]
fn two_that_were_posted_at_the_same_time_have_no_order() {
    check_green(|history| {
        history.posted[3].answered = history.posted[4].answered;
        let (third, fourth) = (arrival(STRICT, 3).began, arrival(STRICT, 4).began);
        *arrival_of(history, STRICT, 3) = Arrival { began: fourth, ended: fourth + MS, ..arrival(STRICT, 3) };
        *arrival_of(history, STRICT, 4) = Arrival { began: third, ended: third + MS, ..arrival(STRICT, 4) };
    });
}
