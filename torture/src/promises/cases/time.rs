//! Time.

use super::super::Case;
use super::super::Proof::Test;
use super::case;

pub(super) const CASES: &[Case] = &[
    case(
        "",
        "E",
        "the wall clock jumps a day forward and back: no burst, no stall, order kept",
        &[
            Test(
                "crates/postrider/tests/it/time/jumps.rs",
                "a_clock_that_jumps_a_day_and_back_changes_no_order_and_sends_nothing_twice",
            ),
            Test("crates/postrider/tests/it/time/jumps.rs", "a_retry_keeps_its_time_when_the_clock_jumps"),
            Test(
                "crates/postrider/tests/it/time/jumps.rs",
                "what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_ahead",
            ),
        ],
    ),
    case(
        "",
        "E",
        "a start with the wall clock set back: nothing lost, order kept, and by up to two days nothing waits for it",
        &[
            Test(
                "crates/postrider/tests/it/time/jumps.rs",
                "what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_behind",
            ),
            Test(
                "crates/postrider/tests/it/time/jumps.rs",
                "what_is_owed_is_kept_in_order_over_a_start_with_the_clock_a_year_behind",
            ),
        ],
    ),
    case(
        "",
        "E",
        "the wall clock strobes by hours",
        &[Test(
            "crates/postrider/tests/it/time/jumps.rs",
            "a_clock_that_never_stands_still_changes_no_order_and_sends_nothing_twice",
        )],
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
