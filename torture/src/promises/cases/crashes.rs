//! Crashes and storage.

use super::super::Case;
use super::super::Proof::{Suite, Test};
use super::case;

pub(super) const CASES: &[Case] = &[
    case(
        "A01",
        "B",
        "kill -9 at random moments under load, 50 times at full size: nothing is lost, and every duplicate \
         overlaps a kill",
        &[
            Test(
                "crates/postrider/tests/it/faults/kill.rs",
                "nothing_accepted_is_lost_in_twenty_kills_under_load",
            ),
            Test(
                "crates/postrider/tests/it/faults/kill.rs",
                "nothing_accepted_is_lost_when_nodes_are_killed_in_turn_under_load",
            ),
            Suite("Kill"),
            Suite("KillAndKillTheStart"),
        ],
    ),
    case(
        "A02",
        "B",
        "the process dies at a chosen moment: during a write, before the sync or COMMIT, after it and \
         before the response, after a send and before its record, while a dead letter is recorded, during \
         a fan-out of 1,000",
        &[
            Test(
                "crates/postrider/tests/it/faults/abort.rs",
                "an_event_whose_commit_was_cut_off_anywhere_is_whole_or_not_there",
            ),
            Test(
                "crates/postrider/tests/it/faults/abort.rs",
                "an_outcome_whose_commit_was_cut_off_anywhere_is_made_again_or_known",
            ),
            Test(
                "crates/postrider/tests/it/faults/abort.rs",
                "a_dead_letter_whose_commit_was_cut_off_anywhere_is_one_dead_letter",
            ),
            Test(
                "crates/postrider/tests/it/faults/abort.rs",
                "a_fan_out_whose_commit_was_cut_off_anywhere_is_whole_or_not_there",
            ),
            Test(
                "crates/postrider/tests/it/ingest/fan_out.rs",
                "a_fan_out_is_whole_or_not_there_whenever_the_process_is_killed",
            ),
            Test(
                "crates/postrider/tests/it/cluster/commits.rs",
                "a_commit_whose_answer_is_lost_is_neither_lost_nor_made_twice",
            ),
        ],
    ),
    case(
        "A03",
        "B",
        "the same on ordered key queues",
        &[
            Test(
                "crates/postrider/tests/it/faults/abort.rs",
                "an_ordered_line_whose_commit_was_cut_off_anywhere_stays_in_order_one_at_a_time",
            ),
            Test("crates/postrider/tests/it/scheduling/order.rs", "strict_order_is_kept_over_kills"),
            Test("crates/postrider/tests/it/scheduling/order.rs", "order_by_key_is_kept_over_kills"),
            Test("crates/postrider/tests/it/cluster/order.rs", "order_is_kept_when_the_owner_is_killed"),
        ],
    ),
    case(
        "A04",
        "B",
        "the same with `max_concurrency` 1 and a slow receiver: it never has two requests, not even right \
         after the restart",
        &[
            Test(
                "crates/postrider/tests/it/faults/abort.rs",
                "a_receiver_of_one_at_a_time_has_no_two_wherever_a_commit_was_cut_off",
            ),
            Test(
                "crates/postrider/tests/it/faults/hold.rs",
                "a_receiver_of_one_at_a_time_never_has_two_even_after_a_kill",
            ),
            Test("crates/engine/tests/it/restart.rs", "one_at_a_time_holds_over_a_crash"),
            Suite("Dawdles"),
        ],
    ),
    case(
        "A05",
        "E",
        "power loss: writes since the last sync are gone, all or some of them, and pages are torn",
        &[
            Test("crates/postrider/tests/it/storage/power.rs", "nothing_accepted_is_lost_when_power_fails"),
            Test(
                "crates/postrider/tests/it/storage/power.rs",
                "what_a_kill_left_in_a_log_is_made_safe_before_the_next_is_written",
            ),
            Test("crates/postrider/tests/it/storage/power.rs", "a_disk_that_lies_loses_what_was_accepted"),
        ],
    ),
    case(
        "A06",
        "E",
        "at least one sync happens before each 2xx",
        &[Test("crates/postrider/tests/it/storage/failing.rs", "no_answer_before_the_sync")],
    ),
    case(
        "A07",
        "E",
        "a sync fails: no 2xx, the process exits, and the sync is never retried",
        &[
            Test(
                "crates/postrider/tests/it/storage/failing.rs",
                "a_sync_that_fails_is_no_acceptance_and_is_not_tried_again",
            ),
            Test(
                "crates/postrider/tests/it/storage/failing.rs",
                "a_sync_that_fails_in_a_stop_is_told_and_not_tried_again",
            ),
            Test(
                "crates/postrider/tests/it/storage/failing.rs",
                "a_store_that_breaks_while_a_stop_waits_for_attempts_is_no_clean_end",
            ),
            Test(
                "crates/postrider/tests/it/storage/failing.rs",
                "a_checkpoint_whose_sync_fails_ends_it_and_what_was_accepted_is_in_the_log",
            ),
            Test(
                "crates/postrider/tests/it/storage/failing.rs",
                "a_checkpoint_of_the_configuration_whose_sync_fails_ends_it_too",
            ),
            Test("crates/postrider/tests/it/storage/failing.rs", "a_write_that_fails_is_no_acceptance"),
            Test("crates/postrider/tests/it/storage/failing.rs", "short_writes_are_completed"),
        ],
    ),
    case(
        "A08",
        "B",
        "a full disk: events get 503, outcomes of running attempts are still recorded (on PostgreSQL as \
         soon as there is space), and acceptance resumes by itself",
        &[
            Test(
                "crates/postrider/tests/it/faults/disk_full.rs",
                "events_are_refused_at_the_reserve_and_accepted_again_when_there_is_space",
            ),
            Test(
                "crates/postrider/tests/it/faults/disk_full.rs",
                "without_a_reserve_the_last_byte_is_no_catastrophe_either",
            ),
            Test(
                "crates/postrider/tests/it/faults/disk_full.rs",
                "what_was_accepted_before_the_disk_was_full_survives_a_kill_there",
            ),
            Test(
                "crates/postrider/tests/it/faults/disk_full.rs",
                "a_database_whose_disk_is_full_costs_no_event_and_no_outcome",
            ),
        ],
    ),
    case(
        "A12",
        "E",
        "flipped bits. In a log after a kill, in the configuration and in the structure of a file: the \
         gateway refuses to start and names the file. In an event: it is neither sent nor forgotten. In a \
         queue row: `postrider verify` finds it",
        &[
            Test(
                "crates/postrider/tests/it/storage/bits.rs",
                "a_log_with_a_flipped_bit_is_refused_after_a_kill_and_nothing_of_it_is_touched",
            ),
            Test(
                "crates/postrider/tests/it/storage/bits.rs",
                "a_flipped_bit_in_what_is_configured_is_refused",
            ),
            Test(
                "crates/postrider/tests/it/storage/bits.rs",
                "a_flipped_bit_in_a_row_of_the_queue_is_found_by_verify",
            ),
            Test(
                "crates/postrider/tests/it/storage/bits.rs",
                "a_body_with_a_flipped_bit_is_not_delivered_and_not_forgotten",
            ),
            Test("crates/postrider/tests/it/storage/bits.rs", "a_file_whose_structure_is_damaged_is_named"),
            Test(
                "crates/postrider/tests/it/command/backup.rs",
                "a_data_directory_is_proved_whole_running_and_killed_and_a_loss_is_found",
            ),
        ],
    ),
    case(
        "A13",
        "E",
        "a backup of a running gateway under load, restored to another place",
        &[
            Test(
                "crates/postrider/tests/it/command/backup.rs",
                "a_backup_under_load_has_all_that_was_answered_before_it_began",
            ),
            Test(
                "crates/postrider/tests/it/command/backup.rs",
                "a_backup_of_a_running_gateway_goes_on_elsewhere",
            ),
            Test(
                "crates/postrider/tests/it/storage/restored.rs",
                "a_backup_of_a_gateway_that_delivers_has_all_that_was_answered_before_as_delivered_or_owed",
            ),
        ],
    ),
    case(
        "A15",
        "E",
        "a second process on the same data directory refuses to start",
        &[Test(
            "crates/postrider/tests/it/start/refusals.rs",
            "a_second_process_on_the_same_data_refuses_and_the_first_goes_on",
        )],
    ),
    case(
        "A16",
        "B",
        "a delivery that kills the process at every attempt: it is sent alone after three unclean stops in a row and a dead \
         letter (`crash_loop`) after one more, and the others get through; unrelated kills end no delivery",
        &[
            Test(
                "crates/postrider/tests/it/faults/crash_loop.rs",
                "a_delivery_that_kills_the_gateway_each_time_is_a_dead_letter_and_the_others_get_through",
            ),
            Test(
                "crates/postrider/tests/it/faults/crash_loop.rs",
                "a_delivery_that_kills_its_node_each_time_is_a_dead_letter_and_the_others_get_through",
            ),
            Test(
                "crates/postrider/tests/it/faults/crash_loop.rs",
                "fifty_kills_end_no_delivery_to_a_healthy_receiver",
            ),
            Test("crates/core/src/start_gate/tests.rs", "a_suspect_is_alone_and_nothing_is_held_for_ever"),
        ],
    ),
];
