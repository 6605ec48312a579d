//! Hostile receivers.

use super::super::Case;
use super::super::Proof::{Bench, Suite, Test};
use super::case;

const HANGING: &str = "crates/engine/tests/it/hanging.rs";
const FLOODS: &str = "crates/engine/tests/it/floods.rs";
const ANSWERS: &str = "crates/engine/tests/it/answers.rs";
const RESOURCES: &str = "crates/postrider/tests/it/faults/resources.rs";
const NAMES: &str = "crates/postrider/tests/it/faults/resources/names.rs";
const RETRY_AFTER: &str = "crates/postrider/tests/it/scheduling/retry_after.rs";

pub(super) const CASES: &[Case] = &[
    case(
        "",
        "–",
        "accepts the connection and never reads",
        &[
            Test(HANGING, "a_receiver_that_never_reads_is_given_up_on"),
            Test(HANGING, "a_receiver_that_never_reads_a_large_body_is_given_up_on"),
            Test(RESOURCES, "receivers_that_never_read_cost_no_more"),
        ],
    ),
    case(
        "",
        "B",
        "hangs",
        &[
            Test(HANGING, "a_receiver_that_reads_and_never_answers_is_given_up_on"),
            Test(RESOURCES, "receivers_that_never_answer_cost_no_more"),
            Suite("Hangs"),
        ],
    ),
    case(
        "",
        "B",
        "drips its headers",
        &[
            Test(HANGING, "a_receiver_that_drips_headers_is_given_up_on"),
            Test(RESOURCES, "headers_that_drip_cost_no_descriptors"),
            Suite("DripsHeaders"),
        ],
    ),
    case(
        "",
        "B",
        "answers 200 and drips the body: the slot is free one second after the deadline at the latest",
        &[
            Test(HANGING, "a_receiver_that_drips_the_body_is_given_up_on_and_what_came_is_kept"),
            Test(RESOURCES, "answers_that_drip_cost_no_descriptors"),
            Suite("DripsBody"),
        ],
    ),
    case(
        "",
        "–",
        "a body of a gigabyte, or endless",
        &[
            Test(FLOODS, "of_an_endless_body_a_part_is_kept_and_the_status_counts"),
            Test(RESOURCES, "endless_bodies_cost_no_memory"),
            Test(
                "crates/postrider/tests/it/faults/receivers.rs",
                "of_a_large_answer_only_the_beginning_is_kept",
            ),
        ],
    ),
    case(
        "",
        "–",
        "a gzip bomb: nothing is inflated",
        &[
            Test(ANSWERS, "a_compressed_answer_is_kept_as_it_is"),
            Test(RESOURCES, "a_gzip_bomb_costs_no_memory"),
        ],
    ),
    case(
        "",
        "–",
        "endless headers",
        &[
            Test(RESOURCES, "endless_headers_cost_no_memory"),
            Test(FLOODS, "endless_headers_are_no_answer"),
            Test(FLOODS, "of_many_headers_a_part_is_kept"),
        ],
    ),
    case(
        "",
        "–",
        "garbage, two Content-Lengths: the connection isn't reused",
        &[
            Test(ANSWERS, "garbage_is_no_answer"),
            Test(ANSWERS, "two_different_content_lengths_are_no_answer"),
            Test(RESOURCES, "garbage_costs_no_more"),
            Test(RESOURCES, "answers_of_two_lengths_cost_no_more"),
            Test(
                "crates/engine/tests/it/connections.rs",
                "an_answer_nobody_asked_for_is_not_taken_for_the_next_one",
            ),
        ],
    ),
    case(
        "",
        "B",
        "resets before and after the body",
        &[
            Test(ANSWERS, "a_connection_that_ends_before_the_answer_s_head_is_told"),
            Test(ANSWERS, "a_connection_that_ends_inside_the_answer_s_body_is_told_and_the_status_kept"),
            Test(RESOURCES, "receivers_that_reset_cost_no_descriptors"),
            Test(RESOURCES, "receivers_that_reset_after_the_body_cost_no_descriptors"),
            Suite("Resets"),
        ],
    ),
    case(
        "",
        "–",
        "redirects to a canary: no connection to it",
        &[
            Test("crates/postrider/tests/it/faults/receivers.rs", "a_redirect_is_not_followed"),
            Test(
                "crates/engine/tests/it/redirects.rs",
                "a_redirect_is_a_failure_and_nobody_is_asked_where_it_points",
            ),
            Test(RESOURCES, "redirects_cost_no_more"),
        ],
    ),
    case(
        "",
        "B",
        "429 with a `Retry-After` that is near, far, past, garbage or `inf`",
        &[
            Test("crates/postrider/tests/it/faults/receivers.rs", "a_receiver_that_asks_for_time_gets_it"),
            Test(RETRY_AFTER, "a_retry_after_of_years_is_cut_to_an_hour_for_all_and_a_day_for_the_one"),
            Test(RETRY_AFTER, "a_retry_after_that_is_no_time_holds_nothing"),
            Test(RESOURCES, "receivers_that_ask_for_time_cost_no_more"),
            Suite("Throttles"),
        ],
    ),
    case(
        "",
        "–",
        "410",
        &[
            Test(
                "crates/postrider/tests/it/scheduling/gone.rs",
                "a_410_disables_the_destination_and_costs_no_other_delivery",
            ),
            Test(RESOURCES, "receivers_that_are_gone_cost_no_more"),
        ],
    ),
    case(
        "",
        "–",
        "a TLS certificate that is expired, self-signed, for another host, or from an unknown authority: \
         no byte of the request is sent",
        &[
            Test(
                "crates/engine/tests/it/tls.rs",
                "a_certificate_that_proves_nothing_gets_no_byte_of_a_request",
            ),
            Test(RESOURCES, "certificates_that_nobody_trusts_cost_no_more"),
            Test(RESOURCES, "certificates_that_have_expired_cost_no_more"),
        ],
    ),
    case(
        "",
        "–",
        "DNS that fails, is slow, or returns 1,000 records",
        &[
            Test(
                "crates/postrider/tests/it/faults/receivers.rs",
                "a_receiver_that_is_not_there_is_a_network_error",
            ),
            Test(
                "crates/engine/src/send/resolve/tests.rs",
                "whatever_a_name_is_not_found_for_is_told_alike_and_at_the_same_time",
            ),
            Test(
                "crates/engine/src/send/resolve/tests.rs",
                "a_name_is_asked_for_once_and_used_up_to_a_bound",
            ),
            Test(
                "crates/engine/src/send/resolve/tests.rs",
                "a_name_is_asked_for_once_however_many_want_it_and_give_up",
            ),
            Test(
                NAMES,
                "names_that_are_not_found_cost_no_more_and_look_like_those_that_are_not_answered_for",
            ),
            Test(NAMES, "names_that_are_not_answered_for_cost_no_more"),
            Test(NAMES, "names_of_a_thousand_addresses_cost_no_more"),
        ],
    ),
    case(
        "",
        "B",
        "half of its responses are errors, and the circuit flaps",
        &[
            Test(
                "crates/postrider/tests/it/scheduling/circuit.rs",
                "a_circuit_opens_after_failures_in_a_row_and_doubles_its_rest",
            ),
            Test(
                "crates/postrider/tests/it/scheduling/circuit.rs",
                "one_probe_closes_the_circuit_and_then_it_goes_up_step_by_step",
            ),
            Test(
                "crates/postrider/tests/it/scheduling/circuit.rs",
                "a_receiver_that_fails_half_of_the_time_opens_the_circuit_again_and_again_and_gets_all_in_the_end",
            ),
            Test(RESOURCES, "receivers_that_flap_cost_no_more"),
            Suite("Fails"),
        ],
    ),
    case(
        "",
        "E",
        "one destination at its timeout with 1,000 deliveries queued: the others' p99 is at most 1.5 times \
         the baseline",
        &[
            Bench("hanging"),
            Test(
                "crates/postrider/tests/it/scheduling/isolation.rs",
                "nineteen_are_served_at_once_while_one_hangs_with_most_of_the_events",
            ),
        ],
    ),
];
