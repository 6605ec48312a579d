//! What was too much at once.

use super::*;

#[test]
fn one_too_many_in_flight_is_over_concurrency() {
    let slow =
        |history: &mut History| (2..5).for_each(|body| arrival_of(history, UNORDERED, body).ended = 450 * MS);
    check_red(UNORDERED, "over-concurrency", slow);
    check_green(|history| {
        slow(history);
        history.destinations[UNORDERED].limits[0].max_concurrency = 3;
    });
}

#[test]
fn what_a_fault_cut_off_counts_only_where_it_is_waited_out() {
    let cut = |history: &mut History| {
        (2..5).for_each(|body| arrival_of(history, UNORDERED, body).ended = SECOND);
        let before_the_third = arrival(UNORDERED, 4).began - MS;
        history.faults.push(fault(before_the_third, before_the_third));
    };
    check_green(cut);
    check_red(UNORDERED, "over-concurrency", |history| {
        cut(history);
        history.destinations[UNORDERED].limits[0].max_concurrency = 1;
    });
}

#[test]
fn no_more_than_a_limit_for_each_fault_and_one_for_now_are_at_once_even_in_faults() {
    let during = arrival(UNORDERED, 2).began;
    // Bodies 2 to 5 are twice the limit, with 6 they are more.
    let at_once = |last: u64, faults: usize| {
        move |history: &mut History| {
            let ended = arrival(UNORDERED, last).began + MS;
            (2..=last).for_each(|body| arrival_of(history, UNORDERED, body).ended = ended);
            (0..faults).for_each(|_| history.faults.push(fault(during, SECOND)));
        }
    };
    check_green(at_once(5, 1));
    check_red(UNORDERED, "over-concurrency", at_once(6, 1));
    check_green(at_once(6, 2));
    // What the dead process had open goes by the limit of its time.
    check_green(|history| {
        at_once(6, 1)(history);
        history.destinations[UNORDERED].limits[0].max_concurrency = 4;
        history.destinations[UNORDERED].limits.push(Limit { from: 450 * MS, max_concurrency: 2 });
    });
}

#[test]
fn one_that_was_given_up_on_by_its_deadline_is_not_in_flight_any_more() {
    check_green(|history| {
        history.destinations[UNORDERED].timeout = 90 * MS;
        (2..5).for_each(|body| arrival_of(history, UNORDERED, body).ended = SECOND);
    });
}

#[test]
fn two_of_one_line_at_once_are_over_concurrency() {
    check_red(BY_KEY, "over-concurrency", |history| {
        *arrival_of(history, BY_KEY, 2) =
            Arrival { ended: arrival(BY_KEY, 4).began + MS, answer: Answer::Cut, ..arrival(BY_KEY, 2) };
        let again = arrival(BY_KEY, 2).ended + MS;
        history.arrivals.push(Arrival { began: again, ended: again + MS, attempt: 2, ..arrival(BY_KEY, 2) });
        history.faults.push(fault(0, 100 * SECOND));
    });
}

#[test]
fn one_that_is_sent_to_a_paused_destination_is_over_concurrency() {
    let paused = |from: Moment| {
        move |history: &mut History| {
            history.destinations[UNORDERED].limits.push(Limit { from, max_concurrency: 0 });
        }
    };
    let last = arrival(UNORDERED, 9).began;
    check_red(UNORDERED, "over-concurrency", paused(last - 150 * MS));
    check_green(paused(last - 50 * MS));
}
