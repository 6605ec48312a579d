//! What was given up on and should not have been.

use super::*;

/// Body 4 was never taken, and this is on record of it.
fn given_up(record: Record) -> impl FnOnce(&mut History) {
    move |history| {
        arrival_of(history, UNORDERED, 4).answer = Answer::Failed;
        *record_of(history) = record;
    }
}

#[test]
fn a_dead_letter_before_the_last_attempt_is_undisciplined() {
    check_green(given_up(dead_letter(UNORDERED, 4)));
    for attempts in [vec![], vec![1], vec![1, 2]] {
        let answered = attempts.len().min(1);
        let early = Record { attempts, answered, ..dead_letter(UNORDERED, 4) };
        check_red(UNORDERED, "undisciplined", given_up(early));
    }
}

#[test]
fn a_dead_letter_for_a_reason_that_no_destination_has_is_undisciplined() {
    for reason in [Some("age".to_owned()), None] {
        check_red(UNORDERED, "undisciplined", given_up(Record { reason, ..dead_letter(UNORDERED, 4) }));
    }
}

#[test]
fn a_premature_dead_letter_of_an_event_whose_sender_never_heard_is_found() {
    check_red(UNORDERED, "undisciplined", |history| {
        given_up(Record { attempts: vec![1], ..dead_letter(UNORDERED, 4) })(history);
        history.posted[4].fate = Fate::Unknown;
        history.posted[4].event = None;
    });
}

#[test]
fn a_dead_letter_with_a_success_on_record_is_forged() {
    check_red(UNORDERED, "forged", given_up(Record { successes: 1, ..dead_letter(UNORDERED, 4) }));
}

#[test]
fn a_dead_letter_of_what_the_receiver_took_is_forged_unless_its_answer_was_lost() {
    let dead = |history: &mut History| *record_of(history) = dead_letter(UNORDERED, 4);
    check_red(UNORDERED, "forged", dead);
    let during = arrival(UNORDERED, 4).began + MS;
    check_green(|history| {
        dead(history);
        history.faults.push(fault(during, during));
    });
    check_green(|history| {
        *record_of(history) = Record { timed_out: vec![1], ..dead_letter(UNORDERED, 4) };
    });
}
