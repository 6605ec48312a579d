//! What the gateway has on record and nobody saw.

use super::*;

#[test]
fn an_outcome_that_was_written_after_fencing_is_forged() {
    check_red(UNORDERED, "forged", |history| record_of(history).attempts = vec![1, 1]);
    check_red(UNORDERED, "forged", |history| {
        *record_of(history) = Record { answered: 2, ..record(UNORDERED, 4) }
    });
    check_red(UNORDERED, "forged", |history| record_of(history).successes = 2);
    check_red(UNORDERED, "forged", |history| history.records.push(record(UNORDERED, 4)));
}

#[test]
fn what_is_on_record_of_an_event_whose_sender_never_heard_is_held_against_what_came() {
    check_green(|history| {
        history.posted[4].fate = Fate::Unknown;
        history.posted[4].event = None;
    });
}

#[test]
fn a_delivery_on_record_that_the_receiver_never_took_is_forged_and_lost() {
    let (tally, _) = judged(UNORDERED, |history| arrival_of(history, UNORDERED, 4).answer = Answer::Cut);
    assert_eq!((tally.forged, tally.lost), (1, 1));
}

#[test]
fn a_delivery_that_is_still_pending_at_the_end_is_found() {
    check_red(UNORDERED, "forged", |history| record_of(history).end = End::Pending);
}
