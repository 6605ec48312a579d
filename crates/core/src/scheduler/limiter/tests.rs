//! The limit, round by round.

use super::*;

const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

/// Rounds of attempts, each round as many as allowed at once, all with this end; gives the limit after each.
fn rounds(
    limiter: &mut Limiter,
    health: Health,
    latency_ms: u64,
    rounds: usize,
    now: &mut Timestamp,
) -> Vec<u32> {
    let latency = Duration::from_millis(latency_ms);
    let round = |_| {
        *now = now.after(Duration::from_millis(1));
        let (sent_at, count) = (*now, limiter.current());
        (0..count).for_each(|_| limiter.begin(sent_at));
        *now = now.after(latency);
        for _ in 0..count {
            limiter.learn(Sample { health, latency, sent_at, full: true }, *now);
        }
        limiter.current()
    };
    (0..rounds).map(round).collect()
}

#[test]
fn a_receiver_that_refuses_everything_gets_one_at_a_time_and_more_when_it_is_well() {
    for health in [Health::Throttled, Health::Overloaded, Health::TimedOut] {
        let (mut limiter, mut now) = (Limiter::new(16, true), START);
        let cut = rounds(&mut limiter, health, 100, 12, &mut now);
        assert!(cut.is_sorted_by(|before, after| before >= after), "{cut:?}");
        assert_eq!(cut[11], 1, "{cut:?}");
        let back = rounds(&mut limiter, Health::Good, 100, 60, &mut now);
        assert!(back.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] <= pair[0] + 1), "{back:?}");
        assert_eq!((back[59], limiter.reason()), (16, LimitReason::Healthy), "{back:?}");
    }
}

#[test]
fn failures_that_are_no_overload_change_nothing() {
    let (mut limiter, mut now) = (Limiter::new(16, true), START);
    for health in [Health::Failed, Health::Neutral, Health::Unknown] {
        assert_eq!(rounds(&mut limiter, health, 100, 3, &mut now), [16, 16, 16]);
    }
}

#[test]
fn one_stray_among_hundreds_is_no_reason() {
    let (mut limiter, mut now) = (Limiter::new(16, true), START);
    for _ in 0..10 {
        rounds(&mut limiter, Health::Good, 100, 20, &mut now);
        now = now.after(Duration::from_millis(1));
        let sample = Sample { health: Health::Overloaded, latency: Duration::ZERO, sent_at: now, full: true };
        limiter.begin(now);
        limiter.learn(sample, now);
        assert!(limiter.current() >= 13, "{}", limiter.current());
    }
}

#[test]
fn rising_latency_slows_and_lasting_latency_becomes_usual() {
    let (mut limiter, mut now) = (Limiter::new(16, true), START);
    rounds(&mut limiter, Health::Good, 50, 20, &mut now);
    assert_eq!((limiter.current(), limiter.reason()), (16, LimitReason::Configured));
    let slowed = rounds(&mut limiter, Health::Good, 1000, 10, &mut now);
    assert!(slowed[9] < 10 && limiter.reason() == LimitReason::Slow, "{slowed:?}");
    let later = rounds(&mut limiter, Health::Good, 1000, 400, &mut now);
    assert_eq!((later[399], limiter.reason()), (16, LimitReason::Healthy));
}

#[test]
fn noise_of_a_fast_receiver_is_no_reason() {
    let (mut limiter, mut now) = (Limiter::new(16, true), START);
    rounds(&mut limiter, Health::Good, 1, 20, &mut now);
    assert_eq!(rounds(&mut limiter, Health::Good, 90, 20, &mut now)[19], 16);
}

#[test]
fn after_the_circuit_closed_it_doubles_from_one() {
    for adaptive in [true, false] {
        let (mut limiter, mut now) = (Limiter::new(10, adaptive), START);
        limiter.recover(now);
        assert_eq!(limiter.current(), 1);
        assert_eq!(rounds(&mut limiter, Health::Good, 10, 4, &mut now), [2, 4, 8, 10]);
        assert_eq!(limiter.reason(), LimitReason::Healthy);
    }
}

#[test]
fn a_receiver_that_only_refuses_is_no_reason_to_stay_at_one() {
    let (mut limiter, mut now) = (Limiter::new(10, true), START);
    limiter.recover(now);
    assert_eq!(rounds(&mut limiter, Health::Neutral, 10, 4, &mut now), [2, 4, 8, 10]);
}

#[test]
fn switched_off_it_stays_as_configured() {
    let (mut limiter, mut now) = (Limiter::new(16, false), START);
    assert_eq!(rounds(&mut limiter, Health::TimedOut, 100, 3, &mut now), [16, 16, 16]);
    limiter.configure(4, false);
    assert_eq!(limiter.current(), 4);
}

#[test]
fn a_change_of_the_bound_keeps_what_was_learned() {
    let (mut limiter, mut now) = (Limiter::new(16, true), START);
    limiter.configure(32, true);
    assert_eq!(limiter.current(), 32, "never complained, so all of it");
    let learned = rounds(&mut limiter, Health::Throttled, 100, 2, &mut now)[1];
    assert!((4..32).contains(&learned), "{learned}");
    limiter.configure(64, true);
    assert_eq!(limiter.current(), learned);
    limiter.configure(4, true);
    assert_eq!(limiter.current(), 4);
    limiter.configure(64, false);
    assert_eq!(limiter.current(), 64);
}
