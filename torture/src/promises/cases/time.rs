//! Time.

use super::super::Case;
use super::super::Proof::Test;
use super::case;

const JUMPS: &str = "crates/postrider/tests/it/time/jumps.rs";
const CLOCK_JUMPS: &str = "crates/postrider/tests/it/cluster/clock_jumps.rs";

pub(super) const CASES: &[Case] = &[
    case(
        "",
        "B",
        "the wall clock jumps a day forward and back: no burst, no stall, order kept",
        &[
            Test(JUMPS, "a_clock_that_jumps_a_day_and_back_changes_no_order_and_sends_nothing_twice"),
            Test(JUMPS, "a_retry_keeps_its_time_when_the_clock_jumps"),
            Test(JUMPS, "many_retries_keep_their_time_when_the_clock_jumps_and_none_is_made_twice"),
            Test(JUMPS, "what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_ahead"),
            Test(
                CLOCK_JUMPS,
                "clocks_of_nodes_that_jump_a_day_and_back_change_no_order_and_send_nothing_twice",
            ),
            Test(CLOCK_JUMPS, "a_retry_keeps_its_time_when_the_clocks_of_nodes_jump"),
            Test(CLOCK_JUMPS, "what_nodes_owe_is_sent_in_order_after_a_start_with_their_clocks_a_day_ahead"),
        ],
    ),
    case(
        "",
        "B",
        "a start with the wall clock set back: nothing is lost and order is kept; up to two days back, \
         nothing waits for the clock",
        &[
            Test(JUMPS, "what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_behind"),
            Test(JUMPS, "what_is_owed_is_kept_in_order_over_a_start_with_the_clock_a_year_behind"),
            Test(CLOCK_JUMPS, "what_nodes_owe_is_sent_in_order_after_a_start_with_their_clocks_a_day_behind"),
            Test(
                CLOCK_JUMPS,
                "what_nodes_owe_is_sent_in_order_after_a_start_with_each_clock_off_by_something_else",
            ),
        ],
    ),
    case(
        "",
        "B",
        "the wall clock jumps back and forth by hours",
        &[
            Test(JUMPS, "a_clock_that_never_stands_still_changes_no_order_and_sends_nothing_twice"),
            Test(
                CLOCK_JUMPS,
                "clocks_of_nodes_that_never_stand_still_change_no_order_and_send_nothing_twice",
            ),
        ],
    ),
    case(
        "",
        "E",
        "2038 and 9999 in schedules, and a wall clock that passes 2038",
        &[
            Test(
                "crates/postrider/tests/it/time/far.rs",
                "an_event_for_2038_or_9999_is_refused_with_what_is_allowed",
            ),
            Test(
                "crates/postrider/tests/it/time/far.rs",
                "the_second_in_which_32_bits_overflow_passes_like_any_other",
            ),
        ],
    ),
];
