//! Attempts of made-up destinations at made-up times.

use super::*;
use postrider_store::ErrorKind;

const MINUTE_MS: u64 = 60_000;

fn minute(number: u64) -> Timestamp {
    Timestamp::from_unix_ms(number * MINUTE_MS)
}

fn destination(number: u64) -> DestinationId {
    DestinationId::from_u64(number)
}

fn noted(health: &DestinationHealth, id: u64, at: Timestamp, took_ms: u32, problem: Option<ErrorKind>) {
    health.write().note(destination(id), Ended::new(at, took_ms, problem));
}

fn of(health: &DestinationHealth, id: u64, now: Timestamp) -> Option<Health> {
    health.of(&[destination(id)], now).pop().map(|(_, health)| health)
}

#[test]
fn minutes_are_told_apart_for_an_hour_in_whichever_order_attempts_are_counted() {
    let health = DestinationHealth::default();
    noted(&health, 1, minute(100), 3, None);
    noted(&health, 1, minute(102), 900, Some(ErrorKind::Status));
    noted(&health, 1, minute(101), 7, None);
    noted(&health, 1, minute(40), 1, None);
    let told = |now| {
        let minutes = of(&health, 1, minute(now)).map(|health| health.minutes).unwrap_or_default();
        let figures =
            minutes.iter().map(|minute| (minute.number, minute.succeeded, minute.failed, minute.slowest_ms));
        figures.collect::<Vec<_>>()
    };
    assert_eq!(
        told(102),
        [(100, 1, 0, 3), (101, 1, 0, 7), (102, 0, 1, 900)],
        "40 is more than an hour before"
    );
    assert_eq!(told(161), [(102, 0, 1, 900)]);
    let problems = of(&health, 1, minute(500)).map(|health| health.frequent_problems());
    assert_eq!(problems, Some(vec![(ErrorKind::Status, 1)]), "since the start");
}

#[test]
fn percentiles_hold_when_there_are_more_attempts_than_are_counted() {
    let health = DestinationHealth::default();
    // A million in a minute, of which every tenth is slow.
    for n in 0..1_000_000_u32 {
        noted(&health, 1, minute(1), if n % 10 == 0 { 400 } else { 4 }, None);
    }
    let told = of(&health, 1, minute(1)).map(|health| health.minutes[0]).unwrap_or_default();
    assert_eq!((told.succeeded, told.slowest_ms), (1_000_000, 400));
    let quantile = |share| told.quantile_ms(share).unwrap_or_default();
    assert!((2.0..=5.0).contains(&quantile(0.5)) && (200.0..=400.0).contains(&quantile(0.95)), "{told:?}");
    assert!((2.0..=5.0).contains(&quantile(0.88)), "{told:?}");
}

#[test]
fn others_are_told_of_what_has_changed_the_longest_untold_first() {
    let health = DestinationHealth::default();
    let take = |most| -> Vec<u64> {
        health.take_untold(most, minute(1)).iter().map(|(id, _)| id.as_u64()).collect()
    };
    [1, 2, 3, 1].iter().for_each(|id| noted(&health, *id, minute(1), 1, None));
    assert_eq!(take(2), [1, 2]);
    noted(&health, 1, minute(1), 1, None);
    assert_eq!(take(9), [3, 1]);
    assert_eq!(take(9), [0; 0]);
    noted(&health, 2, minute(1), 1, None);
    health.were_not_told(&[destination(1), destination(2), destination(77)]);
    assert_eq!(take(9), [2, 1]);
}

#[test]
fn a_busy_destination_finds_room_among_very_many_that_are_quiet() {
    let health = DestinationHealth::default();
    (0..DESTINATIONS_MAX as u64).for_each(|id| noted(&health, id, minute(id / 5_000), 1, None));
    let newcomer = DESTINATIONS_MAX as u64;
    noted(&health, newcomer, minute(59), 1, None);
    assert_eq!(of(&health, newcomer, minute(59)), None, "all were sent to within the hour");
    noted(&health, newcomer, minute(60), 1, None);
    let known = [0, 5_000, newcomer].map(|id| of(&health, id, minute(60)).is_some());
    assert_eq!(known, [false, true, true]);
    assert_eq!(health.take_untold(usize::MAX, minute(60)).len(), 5_001);
}

#[test]
fn the_busiest_come_first() {
    let health = DestinationHealth::default();
    [1, 2, 2, 3, 3, 3, 4].iter().for_each(|id| noted(&health, *id, minute(1), 1, None));
    let asked = [1, 2, 3, 9].map(destination);
    assert_eq!(health.busiest(asked.into_iter(), 2), [3, 2].map(destination));
}
