//! The promises.

use super::Guarantee;
use super::Proof::{Bench, Test};

pub(super) const GUARANTEES: &[Guarantee] = &[
    Guarantee {
        code: "G1",
        name: "Durability",
        promise: "An event answered with 2xx is never lost. For every matching destination it ends as \
                  delivered, as a dead letter, or pending with a due time. On the embedded store it \
                  survives kill -9, and power loss if the disk honours fsync. On PostgreSQL it survives \
                  the loss of nodes and a crash of the database.",
        exception: "A failover of PostgreSQL loses nothing only with synchronous replication; `/readyz` \
                    says which one you have.",
        columns: &["lost"],
        by: &[
            Test("crates/store/src/cluster_state.rs", "settings_of_the_server_say_what_an_event_survives"),
            Test(
                "crates/postrider/tests/it/cluster/failover.rs",
                "a_standby_that_takes_over_has_all_that_was_accepted",
            ),
        ],
    },
    Guarantee {
        code: "G2",
        name: "At least once, duplicates explained",
        promise: "A clean run has no duplicates. Every duplicate is explained.",
        exception: "A duplicate is possible for an attempt in flight during a fault of its node, the \
                    database or the machine, or if the receiver answered too late.",
        columns: &["unexplained"],
        by: &[Test("crates/postrider/tests/it/faults/torture.rs", "a_clean_run_sends_nothing_twice")],
    },
    Guarantee {
        code: "G3",
        name: "Integrity",
        promise: "The bytes delivered are the bytes accepted, at the right tenant's right destination. A \
                  response counts for the request before it, and a connection that carried a refusal isn't \
                  reused.",
        exception: "Over HTTP/1.1, a receiver can send an unrequested second response after a 2xx. If it \
                    arrives only after the next request was written, it counts for that request.",
        columns: &["phantom", "changed"],
        by: &[
            Test(
                "crates/postrider/tests/it/ingest/bytes.rs",
                "bytes_and_content_type_are_passed_on_as_they_came",
            ),
            Test(
                "crates/engine/tests/it/early_answers.rs",
                "an_event_that_was_accepted_and_not_taken_is_not_delivered",
            ),
            Test("crates/engine/tests/it/connections.rs", "an_answer_behind_a_refusal_is_nobody_s"),
        ],
    },
    Guarantee {
        code: "G4",
        name: "Concurrency",
        promise: "At the receiver, requests in flight to a destination never exceed `max_concurrency`, \
                  across nodes and restarts.",
        exception: "After an unclean stop, destinations without an order and with a `max_concurrency` \
                    above 1 continue at once, beside what the dead process had in flight. See also G7.",
        columns: &["over-concurrency"],
        by: &[],
    },
    Guarantee {
        code: "G5",
        name: "Order",
        promise: "On an ordered destination, or for an ordering key, an event is first sent only after the \
                  one before it was delivered or became a dead letter, across kills and takeovers. An \
                  event sent after another was answered goes behind it, whichever nodes accepted the two.",
        exception: "See G7.",
        columns: &["misordered"],
        by: &[Test(
            "crates/postrider/tests/it/cluster/order.rs",
            "what_was_answered_first_is_sent_first_whichever_node_took_it",
        )],
    },
    Guarantee {
        code: "G6",
        name: "Retry discipline",
        promise: "Attempts follow the schedule and its jitter. `Retry-After` is respected within its caps. \
                  The number of attempts is bounded, an exhausted delivery is exactly one dead letter, and \
                  a retry keeps its priority.",
        exception: "A crash uses up no attempt. Only a delivery noted in flight at four unclean stops in a row, \
                    the last time alone, becomes a dead letter (`crash_loop`).",
        columns: &["undisciplined"],
        by: &[
            Test(
                "crates/postrider/tests/it/faults/retries.rs",
                "an_exhausted_delivery_is_one_dead_letter_and_stays_one",
            ),
            Test("crates/postrider/tests/it/scheduling/retries.rs", "a_retry_keeps_its_priority"),
            Test("crates/engine/tests/it/retries.rs", "a_failure_is_due_again_within_the_policy_s_spread"),
            Test(
                "crates/postrider/tests/it/faults/crash_loop.rs",
                "fifty_kills_end_no_delivery_to_a_healthy_receiver",
            ),
        ],
    },
    Guarantee {
        code: "G7",
        name: "Fencing",
        promise: "A node whose work was taken over writes nothing.",
        exception: "To G4 and G5: a process frozen for longer than its lease, between its last look at the \
                    lease and the first byte on the wire.",
        columns: &["forged"],
        by: &[
            Test(
                "crates/postrider/tests/it/cluster/frozen.rs",
                "a_node_that_was_frozen_past_its_lease_changes_no_row_and_counts_what_it_drops",
            ),
            Test(
                "crates/postgres/tests/it/ownership.rs",
                "a_batch_of_a_node_that_was_taken_for_dead_is_told_as_fenced",
            ),
        ],
    },
    Guarantee {
        code: "G8",
        name: "Isolation",
        promise: "One bad destination, one flooding tenant, one storm of retries or one burst of bulk \
                  slows the others only within a bound. By the median of several rounds of [the \
                  benchmark](performance.md#isolation), their p99 is at most 1.5 times the baseline with a \
                  hanging destination, and 2 times with a flood, a storm or a burst.",
        exception: "",
        columns: &[],
        by: &[
            Test(
                "crates/postrider/tests/it/scheduling/isolation.rs",
                "nineteen_are_served_at_once_while_one_hangs_with_most_of_the_events",
            ),
            Bench("hanging"),
            Bench("flood"),
            Bench("storm"),
            Bench("critical"),
        ],
    },
    Guarantee {
        code: "G9",
        name: "Bounded resources",
        promise: "Memory, descriptors, connections and disk stay under configured caps, with any input and \
                  any backlog.",
        exception: "",
        columns: &[],
        by: &[
            Test("crates/postrider/tests/it/scheduling/admission.rs", "the_backlog_is_bounded_by_rows"),
            Test("crates/postrider/tests/it/scheduling/admission.rs", "the_backlog_is_bounded_by_bytes"),
            Test(
                "crates/postrider/tests/it/bad_input/crowds.rs",
                "one_connection_too_many_takes_the_place_of_the_one_that_was_idle_longest",
            ),
            Test(
                "crates/postrider/tests/it/bad_input/crowds.rs",
                "a_crowd_that_takes_every_connection_takes_no_descriptor_from_store_and_deliveries",
            ),
            Test(
                "crates/postrider/tests/it/faults/resources/bodies.rs",
                "bodies_that_stall_are_refused_once_they_have_taken_their_room",
            ),
            Test("crates/sqlite/tests/it/files.rs", "a_write_ahead_log_does_not_grow_without_end"),
            Test("crates/engine/tests/it/http2_floods.rs", "an_exchange_of_endless_frames_ends"),
            Test("crates/engine/tests/it/http2_floods.rs", "an_idle_connection_of_endless_frames_is_closed"),
        ],
    },
    Guarantee {
        code: "G10",
        name: "Security",
        promise: "No connection to a forbidden address, no read or write across tenants, no secret in \
                  logs, lists, metrics or exports.",
        exception: "",
        columns: &[],
        by: &[
            Test(
                "crates/postrider/tests/it/egress/closed.rs",
                "a_closed_address_is_refused_in_every_spelling_and_never_dialled",
            ),
            Test(
                "crates/engine/tests/it/rebinding.rs",
                "a_name_that_changes_its_mind_a_thousand_times_reaches_no_closed_address",
            ),
            Test(
                "crates/postrider/tests/it/api/scopes.rs",
                "ids_of_another_tenant_are_as_those_of_nobody_in_every_call",
            ),
            Test(
                "crates/postrider/tests/it/secrets/planted.rs",
                "no_secret_is_found_anywhere_after_everything_was_done",
            ),
        ],
    },
    Guarantee {
        code: "G11",
        name: "Liveness",
        promise: "When faults stop, the backlog drains. Readiness is accurate.",
        exception: "",
        columns: &[],
        by: &[
            Test(
                "crates/postrider/tests/it/watching/readiness.rs",
                "a_flood_makes_it_not_ready_until_the_backlog_shrinks",
            ),
            Test(
                "crates/postrider/tests/it/cluster/readiness.rs",
                "without_its_database_a_node_lives_and_is_not_ready",
            ),
            Test(
                "crates/postrider/tests/it/cluster/readiness.rs",
                "a_node_that_cannot_renew_its_lease_says_that_it_holds_none",
            ),
        ],
    },
];
