//! Clean runs.

use super::super::Case;
use super::super::Proof::{Bench, Suite, Test};
use super::case;

pub(super) const CASES: &[Case] = &[
    case(
        "",
        "B",
        "load without faults, a million events at full size ([`scripts/torture --calm`](#a-clean-run)): no \
         duplicate, nothing lost, order exact",
        &[
            Test("crates/postrider/tests/it/faults/torture.rs", "a_clean_run_sends_nothing_twice"),
            Test(
                "crates/postrider/tests/it/faults/torture.rs",
                "a_clean_run_of_three_nodes_sends_nothing_twice",
            ),
        ],
    ),
    case(
        "",
        "–",
        "retries are spread out instead of returning all at once",
        &[
            Bench("herd"),
            Test("crates/engine/tests/it/retries.rs", "a_failure_is_due_again_within_the_policy_s_spread"),
        ],
    ),
    case(
        "",
        "E",
        "100,000 dead letters at full size are replayed with progress; replaying them again changes \
         nothing",
        &[
            Test(
                "crates/postrider/tests/it/faults/replay.rs",
                "a_bulk_replay_goes_on_after_kills_and_owes_nothing_twice",
            ),
            Test(
                "crates/postrider/tests/it/api/replays.rs",
                "a_job_sends_what_its_filter_says_and_nothing_twice",
            ),
        ],
    ),
    case(
        "",
        "B",
        "SIGTERM under load: attempts in flight end, nothing is lost, no duplicate",
        &[
            Test(
                "crates/postrider/tests/it/faults/stop.rs",
                "a_stop_under_load_loses_nothing_and_sends_nothing_twice",
            ),
            Test(
                "crates/postrider/tests/it/cluster/nodes.rs",
                "a_node_that_stops_in_order_hands_over_at_once_and_nothing_is_sent_twice",
            ),
            Suite("Terminate"),
        ],
    ),
];
