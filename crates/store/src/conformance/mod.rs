//! What every store must do, as tests that each implementation runs by one line:
//! `postrider_store::conformance_suite!(MyHarness::new());`
//!
//! The expression makes a [`Harness`] over new, empty data and is evaluated once for each test, inside an async
//! function, so that it may `.await`. The crate that runs the suite needs tokio with `macros` and `rt`.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "these are tests, only shared between crates: they fail by panicking and their names say what they check"
)]

pub mod accept;
pub mod audit;
pub mod bury;
pub mod configuration;
pub mod dead_letter_groups;
pub mod dead_letters;
pub mod fan_outs;
pub mod finish;
pub mod given_up;
pub mod history;
pub mod idempotency;
pub mod listing;
pub mod ordered;
pub mod outbound;
pub mod queue;
pub mod replays;
pub mod restart;
pub mod revive;
mod sample;
pub mod series;
pub mod sessions;
pub mod starts;
pub mod stats;

use crate::Store;
use async_trait::async_trait;
use std::sync::Arc;

/// One store's data, to be opened again and again.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Opens the data as the next run finds it. The store opened before was closed, or it was dropped without,
    /// as if its process had been killed.
    async fn open(&self) -> Arc<dyn Store>;
}

/// Makes a module of tests: one for each thing that every store must do.
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite! { @tests $harness;
            accept {
                an_event_is_owed_to_all_it_fans_out_to
                an_event_that_nobody_wants_is_kept_and_owed_to_nobody
                the_bytes_come_back_as_they_came
                a_large_batch_is_answered_in_its_order
                an_empty_batch_changes_nothing
                a_new_store_is_empty_and_writable
            }
            queue {
                a_page_is_in_order_of_place_and_tells_its_end
                a_page_is_of_one_line_only
                lines_tell_how_much_is_owed
                the_greatest_ids_and_dates_keep_their_order
            }
            ordered {
                a_key_keeps_the_order_of_acceptance_over_priorities_and_retries
                keys_are_read_one_after_the_other
                a_head_given_up_on_blocks_its_key_if_it_is_to
            }
            finish {
                a_delivered_delivery_is_no_longer_owed
                a_failed_delivery_waits_in_the_retry_lane_of_its_priority
                retries_are_loaded_as_they_are_due
                a_dead_delivery_is_no_longer_owed_and_keeps_its_reason
                an_outcome_given_twice_counts_once
                a_retry_due_at_its_old_place_counts_once
                outcomes_and_events_share_a_commit
                the_deliveries_of_an_event_end_each_for_itself
            }
            bury {
                a_deleted_destination_is_buried_in_steps
                burying_leaves_other_destinations_alone
                an_outcome_after_the_burial_is_only_recorded
            }
            dead_letters {
                a_dead_letter_tells_all_that_is_known_of_its_end
                there_is_one_dead_letter_however_often_its_end_is_told
                dead_letters_are_listed_both_ways_in_pages
                every_filter_leaves_out_what_it_should
                named_dead_letters_are_found
                another_account_has_none_of_them
                a_discarded_dead_letter_is_in_no_list_and_stays_given_up_on
                discarding_a_blocked_head_frees_its_line
                a_blocked_head_of_a_deleted_destination_keeps_its_reason
            }
            dead_letter_groups {
                all_are_counted_the_largest_group_first
                what_is_discarded_revived_or_of_others_is_not_counted
            }
            revive {
                a_revived_delivery_is_owed_anew_and_dead_no_more
                a_delivery_is_revived_once
                a_revived_delivery_can_die_again
                an_ordered_delivery_goes_back_to_its_place
                a_blocked_head_is_revived_in_place
                a_key_that_is_no_longer_ordered_is_replayed_out_of_order
                the_end_of_a_revived_delivery_told_again_changes_nothing
                what_was_revived_outlives_a_crash
            }
            replays {
                a_replay_comes_back_with_every_field
                putting_a_replay_again_replaces_it
                ended_replays_are_forgotten_in_the_end
            }
            audit {
                a_record_comes_back_with_every_field
                records_are_found_by_what_they_tell
                the_oldest_records_of_an_account_make_room
            }
            idempotency {
                a_repeated_key_gives_the_first_event
                another_body_under_a_known_key_is_a_conflict
                a_key_repeated_in_one_batch_is_recognised
                a_key_is_known_in_its_source_only
                a_key_is_known_for_the_window_and_no_longer
                a_clock_that_is_set_back_neither_forgets_a_key_nor_keeps_it_for_longer
                a_key_is_known_to_the_next_run
            }
            configuration {
                all_that_is_configured_comes_back_with_its_secrets
                putting_what_exists_replaces_it
                deleting_a_destination_deletes_its_routes_and_leaves_its_queue
                deleting_a_source_deletes_the_routes_from_it
                deleting_a_route_deletes_it_alone
                deleting_an_account_or_a_key_deletes_it_alone
                changes_are_made_in_their_order
                retry_policies_come_back_exactly
            }
            history {
                an_attempt_comes_back_with_every_field
                every_outcome_and_every_problem_comes_back
                attempts_are_listed_oldest_first
                the_last_attempts_are_shown
                the_event_of_a_delivery_is_found_by_its_id
                a_replay_tells_what_it_repeats
                housekeeping_keeps_what_is_young
            }
            listing {
                events_are_listed_newest_first_in_pages
                events_are_listed_by_source
                events_are_listed_by_status
                another_account_sees_nothing
                a_list_goes_on_where_it_ended
                every_event_filter_leaves_out_what_it_should
                an_event_of_long_ago_is_found_by_its_time_however_many_came_since
            }
            fan_outs {
                a_list_shows_the_first_deliveries_and_what_the_others_come_to
                very_large_fan_outs_are_listed_in_small_steps
            }
            outbound {
                an_event_tells_where_it_comes_from
                a_key_of_the_api_is_known_in_its_account_only
                a_window_comes_back_with_its_event
                a_delayed_delivery_is_due_then_and_waits_in_its_place
                a_page_begins_with_what_is_due_first
                an_ordered_delivery_keeps_its_place_when_it_is_delayed
            }
            given_up {
                what_is_given_up_on_untried_is_a_dead_letter_without_an_attempt
                what_is_owed_no_longer_is_not_given_up_on
                a_head_given_up_on_untried_blocks_its_key_if_it_is_to
            }
            stats {
                a_new_store_has_counted_nothing
                events_are_counted_by_their_way
                every_delivery_is_counted_where_it_stands
                what_is_revived_or_buried_is_counted_where_it_goes
                days_and_accounts_are_counted_apart_and_outlive_a_crash
            }
            series {
                a_point_comes_back_and_the_next_writing_replaces_it
                rings_are_kept_apart_and_outlive_a_crash
                a_ring_holds_so_many_points_and_no_more
            }
            sessions {
                a_session_comes_back_with_every_field_in_the_next_run
                the_first_secret_is_the_secret_of_all_runs
                a_session_is_noted_and_ended_alone
                a_key_that_is_revoked_or_deleted_takes_its_sessions_along
                sessions_that_are_over_are_forgotten
                the_oldest_sessions_of_a_key_make_room
            }
            starts {
                a_start_that_did_not_end_is_told_after_an_unclean_stop_with_that_stop
                a_start_that_ended_is_told_no_more
                what_begins_again_in_the_commit_that_ends_it_is_noted
                a_stop_counts_once_and_only_for_what_was_in_flight_at_it
            }
            restart {
                what_was_committed_outlives_a_crash
                what_was_configured_outlives_a_crash
                open_circuits_outlive_a_crash
                a_run_that_was_not_closed_is_an_unclean_stop
                the_id_floor_is_the_greatest_id_of_any_kind
            }
        }
    };
    (@tests $harness:expr; $($area:ident { $($name:ident)* })*) => {
        mod conformance {
            #[allow(unused_imports, reason = "the harness may be named in full")]
            use super::*;
            $(mod $area {
                #[allow(unused_imports, reason = "the harness may be named in full")]
                use super::*;
                $(#[tokio::test]
                async fn $name() {
                    let harness = $harness;
                    $crate::conformance::$area::$name(&harness).await;
                })*
            })*
        }
    };
}
