//! Ingest and API.

use super::super::Case;
use super::super::Proof::{Bench, Test};
use super::case;

const BODIES: &str = "crates/postrider/tests/it/bad_input/bodies.rs";
const DOOR: &str = "crates/postrider/src/serve/door/tests.rs";
const IDEMPOTENCY: &str = "crates/postrider/tests/it/ingest/idempotency.rs";

pub(super) const CASES: &[Case] = &[
    case(
        "",
        "–",
        "slow loris: heads and bodies that drip in, and clients that never read",
        &[
            Test("crates/postrider/src/serve/connections.rs", "a_head_that_drips_in_is_hung_up_on"),
            Test("crates/postrider/src/serve/connections.rs", "a_connection_without_a_request_is_hung_up_on"),
            Test(
                "crates/postrider/src/serve/connections.rs",
                "a_client_that_does_not_read_its_answer_is_hung_up_on",
            ),
            Test("crates/postrider/src/api/body.rs", "a_body_that_drips_in_has_one_deadline"),
            Test(DOOR, "an_event_whose_head_drips_in_is_hung_up_on"),
            Test(DOOR, "an_event_whose_body_drips_in_is_refused_and_hung_up_on"),
            Test(DOOR, "a_connection_that_posts_nothing_is_hung_up_on"),
            Test(DOOR, "a_sender_that_does_not_read_its_answers_is_hung_up_on"),
            Test(
                "crates/postrider/tests/it/bad_input/drips.rs",
                "heads_and_bodies_that_drip_in_are_hung_up_on_at_their_deadlines",
            ),
            Test(
                "crates/postrider/tests/it/faults/resources.rs",
                "clients_that_drip_cost_their_connections_and_nothing_else",
            ),
            Test(
                "crates/postrider/tests/it/bad_input/crowds.rs",
                "one_connection_too_many_takes_the_place_of_the_one_that_was_idle_longest",
            ),
        ],
    ),
    case(
        "",
        "–",
        "a body at the limit, one byte below and one above: with Content-Length, chunked, and with a false \
         length",
        &[
            Test(BODIES, "a_body_up_to_the_limit_is_delivered_whole"),
            Test(BODIES, "a_body_beyond_the_limit_is_refused_and_never_truncated"),
            Test(BODIES, "a_body_shorter_than_it_says_is_not_an_event"),
            Test(BODIES, "a_body_longer_than_it_says_is_an_event_of_what_it_said"),
            Test(
                "crates/postrider/tests/it/faults/resources/bodies.rs",
                "bodies_at_the_limit_from_many_clients_cost_what_is_in_flight",
            ),
        ],
    ),
    case(
        "",
        "–",
        "requests shaped to smuggle a second one",
        &[
            Test(
                "crates/postrider/tests/it/bad_input/smuggling.rs",
                "what_can_be_read_in_two_ways_is_refused_and_nothing_behind_it_is_served",
            ),
            Test(
                "crates/postrider/tests/it/bad_input/framing.rs",
                "a_request_of_two_lengths_makes_no_second_event",
            ),
        ],
    ),
    case(
        "",
        "–",
        "deeply nested JSON, lone surrogates, NUL",
        &[Test(
            "crates/postrider/tests/it/bad_input/json.rs",
            "what_is_not_a_json_object_is_refused_everywhere",
        )],
    ),
    case(
        "",
        "B",
        "100 simultaneous requests with one idempotency key make one event; another body under the same \
         key gets 409",
        &[
            Test(IDEMPOTENCY, "a_hundred_at_once_under_one_key_are_one_event"),
            Test(IDEMPOTENCY, "a_hundred_bodies_at_once_under_one_key_are_one_event_and_conflicts"),
            Test(
                "crates/postrider/tests/it/cluster/nodes.rs",
                "a_hundred_at_once_under_one_key_over_all_nodes_are_one_event",
            ),
        ],
    ),
    case(
        "",
        "E",
        "ten times the load for two minutes: the excess gets 429 or 503 with `Retry-After`, memory stays \
         flat, delivery continues at 80 % of its rate or better, and within 60 s after the load everything \
         is back to normal",
        &[
            Bench("overload"),
            Test(
                "crates/postrider/tests/it/scheduling/admission.rs",
                "the_backlog_is_bounded_by_how_long_it_waits",
            ),
        ],
    ),
    case(
        "",
        "E",
        "one tenant at twenty times its share: the others' p99 at most doubles",
        &[
            Bench("flood"),
            Test(
                "crates/postrider/tests/it/scheduling/shares.rs",
                "an_account_at_its_limit_does_not_slow_another",
            ),
        ],
    ),
    case(
        "",
        "E",
        "a backlog of 1,000,000 bulk deliveries with a trickle of critical ones: the critical p99 is at \
         most twice an idle gateway's, and bulk never starves",
        &[
            Bench("critical"),
            Test(
                "crates/postrider/tests/it/scheduling/priorities.rs",
                "bulk_moves_under_a_flood_of_critical_by_its_floor",
            ),
        ],
    ),
    case(
        "",
        "E",
        "a fan-out to 10,000",
        &[Test("crates/postrider/tests/it/ingest/fan_out.rs", "an_event_reaches_ten_thousand_destinations")],
    ),
    case(
        "",
        "–",
        "every call without a key, with a revoked key, with another tenant's key, with a read-only key",
        &[
            Test("crates/postrider/tests/it/api/scopes.rs", "keys_that_do_not_count_are_all_told_the_same"),
            Test(
                "crates/postrider/tests/it/api/scopes.rs",
                "every_call_is_for_its_scopes_and_names_the_one_it_needs",
            ),
        ],
    ),
    case(
        "",
        "–",
        "one tenant's ids with another tenant's key: 404",
        &[Test(
            "crates/postrider/tests/it/api/scopes.rs",
            "ids_of_another_tenant_are_as_those_of_nobody_in_every_call",
        )],
    ),
];
