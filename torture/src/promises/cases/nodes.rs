//! PostgreSQL and several nodes.

use super::super::Case;
use super::super::Proof::{Suite, Test};
use super::case;

const OWNERSHIP: &str = "crates/engine/tests/it/ownership.rs";

pub(super) const CASES: &[Case] = &[
    case(
        "B01",
        "P",
        "the database server restarts",
        &[
            Test("crates/postrider/tests/it/cluster/away.rs", "a_server_that_is_restarted_costs_no_event"),
            Suite("RestartDatabase"),
        ],
    ),
    case(
        "B02",
        "P",
        "kill -9 of backends and of the postmaster",
        &[
            Test("crates/postrider/tests/it/cluster/away.rs", "a_server_that_is_killed_costs_no_event"),
            Test(
                "crates/postrider/tests/it/cluster/away.rs",
                "a_server_whose_backends_are_killed_costs_no_event",
            ),
            Suite("KillBackend"),
            Suite("KillPostmaster"),
        ],
    ),
    case(
        "B03",
        "P",
        "database sessions are terminated while attempts are in flight",
        &[
            Test(
                "crates/postrider/tests/it/cluster/database.rs",
                "attempts_in_flight_while_every_connection_is_cut_are_made_and_recorded_once",
            ),
            Test(
                "crates/postrider/tests/it/cluster/database.rs",
                "a_database_that_cuts_every_connection_costs_no_event",
            ),
        ],
    ),
    case(
        "B04",
        "P",
        "one node is cut off from the database",
        &[
            Test(
                "crates/postrider/tests/it/cluster/partition.rs",
                "a_node_whose_way_is_held_up_past_its_lease_is_taken_over_and_comes_back",
            ),
            Suite("Cut"),
            Suite("Stall"),
        ],
    ),
    case(
        "B05",
        "P",
        "all nodes are cut off from the database",
        &[
            Test(
                "crates/postrider/tests/it/cluster/partition.rs",
                "nodes_that_are_all_cut_off_go_on_when_the_way_is_back",
            ),
            Suite("CutAll"),
        ],
    ),
    case(
        "B06",
        "P",
        "a slow database",
        &[Test("crates/postrider/tests/it/cluster/partition.rs", "a_slow_database_delays_and_costs_nothing")],
    ),
    case(
        "B07",
        "P",
        "the connection breaks between COMMIT and its response: one event per idempotency key",
        &[
            Test(
                "crates/postrider/tests/it/cluster/commits.rs",
                "a_commit_whose_answer_is_lost_is_neither_lost_nor_made_twice",
            ),
            Test(
                "crates/postrider/tests/it/cluster/in_doubt.rs",
                "an_event_whose_commit_outlives_its_connection_is_taken_and_sent",
            ),
            Test(
                "crates/postrider/tests/it/cluster/in_doubt.rs",
                "a_letter_whose_taking_outlives_its_connection_is_read",
            ),
        ],
    ),
    case(
        "B10",
        "P",
        "a node is frozen past its lease and continued: its writes change no row",
        &[
            Test(
                "crates/postrider/tests/it/cluster/frozen.rs",
                "a_node_that_was_frozen_past_its_lease_changes_no_row_and_counts_what_it_drops",
            ),
            Suite("Freeze"),
        ],
    ),
    case(
        "B11",
        "P",
        "a node is frozen after it claimed work: it doesn't send it",
        &[Test(
            "crates/postrider/tests/it/cluster/claimed.rs",
            "what_a_node_had_claimed_before_it_was_frozen_it_does_not_send_afterwards",
        )],
    ),
    case(
        "B13",
        "P",
        "kill -9 of one of three nodes: its work resumes within the lease plus 5 s",
        &[Test(
            "crates/postrider/tests/it/cluster/takeover.rs",
            "the_work_of_a_killed_node_is_taken_over_and_nothing_is_lost",
        )],
    ),
    case(
        "B14",
        "P",
        "nodes join and leave every second",
        &[
            Test(
                "crates/postrider/tests/it/cluster/turnover.rs",
                "nodes_that_join_and_leave_every_second_cost_nothing",
            ),
            Test(OWNERSHIP, "shards_are_handed_over_when_what_was_accepted_for_them_is_on_disk"),
            Test(OWNERSHIP, "shards_that_wait_for_requests_of_a_dead_owner_are_handed_over_as_such"),
            Test(
                OWNERSHIP,
                "an_outcome_that_was_written_before_its_shard_was_lost_is_followed_when_it_comes_back",
            ),
            Test(OWNERSHIP, "a_page_of_before_shards_were_lost_brings_nothing_back"),
        ],
    ),
    case(
        "B15",
        "P",
        "five nodes and `max_concurrency` 3: the receiver's maximum is 3",
        &[Test(
            "crates/postrider/tests/it/cluster/concurrency.rs",
            "five_nodes_keep_to_one_concurrency_while_one_joins",
        )],
    ),
    case(
        "B16",
        "P",
        "notifications are lost: polling still delivers",
        &[Test(
            "crates/postrider/tests/it/cluster/latency.rs",
            "with_all_notifications_lost_polling_still_delivers",
        )],
    ),
    case(
        "B17",
        "P",
        "nodes' clocks are ten minutes apart",
        &[Test(
            "crates/postrider/tests/it/cluster/clocks.rs",
            "clocks_that_are_ten_minutes_apart_change_nothing",
        )],
    ),
    case(
        "B18",
        "P",
        "a long transaction holds vacuum back: delivery takes at most 3 times as long",
        &[Test(
            "crates/postrider/tests/it/cluster/latency.rs",
            "a_transaction_that_holds_vacuum_back_does_not_slow_delivery",
        )],
    ),
    case(
        "B20",
        "P",
        "started against a read-only standby: refuses with a clear error",
        &[Test("crates/postrider/tests/it/cluster/refusals.rs", "a_standby_is_refused")],
    ),
];
