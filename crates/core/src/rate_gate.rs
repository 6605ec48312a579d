//! A rate limit as a gate: each that passes moves the moment from which the next may.
//!
//! The generic cell rate algorithm: one number holds the state, sends are evenly apart, and a rest earns at most
//! the burst.

use crate::destination::RateLimit;
use crate::time::Timestamp;

const US_PER_SECOND: f64 = 1_000_000.0;
const US_PER_MS: u64 = 1000;

/// When the next may pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateGate {
    /// When the sends so far are paid for, in microseconds.
    paid_us: u64,
}

impl RateGate {
    /// Nothing passes before this.
    pub fn open_at(&self, limit: RateLimit) -> Timestamp {
        Timestamp::from_unix_ms(self.paid_us.saturating_sub(tolerance_us(limit)).div_ceil(US_PER_MS))
    }

    /// Another limit holds from now: what was sent under the last one leaves at most the new burst to pay for.
    pub fn change(&mut self, limit: RateLimit, now: Timestamp) {
        let unpaid_max = tolerance_us(limit) + interval_us(limit);
        self.paid_us = self.paid_us.min(now.unix_ms() * US_PER_MS + unpaid_max);
    }

    /// What passed before is not known: the next waits as if the burst had just passed.
    pub fn spend(&mut self, limit: RateLimit, now: Timestamp) {
        let spent_us = now.unix_ms() * US_PER_MS + tolerance_us(limit) + interval_us(limit);
        self.paid_us = self.paid_us.max(spent_us);
    }

    /// Whether a gate that nothing has passed would be the same by now.
    pub fn is_rested(&self, now: Timestamp) -> bool {
        self.paid_us <= now.unix_ms() * US_PER_MS
    }

    /// One that passed was not sent.
    pub fn give_back(&mut self, limit: RateLimit) {
        self.paid_us = self.paid_us.saturating_sub(interval_us(limit));
    }

    /// One passes.
    pub fn pass(&mut self, limit: RateLimit, now: Timestamp) {
        let now_us = now.unix_ms() * US_PER_MS;
        self.paid_us = self.paid_us.max(now_us) + interval_us(limit);
    }
}

fn interval_us(limit: RateLimit) -> u64 {
    (US_PER_SECOND / limit.per_second()).round() as u64
}

/// How far ahead of payment a send may be. Time has steps of a millisecond: faster rates send several in one.
fn tolerance_us(limit: RateLimit) -> u64 {
    let interval = interval_us(limit);
    let ahead = interval * u64::from(limit.burst() - 1);
    if interval < US_PER_MS { ahead.max(US_PER_MS - interval) } else { ahead }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

    /// Sends as fast as the gate lets; gives how many passed within so many milliseconds.
    fn passed(per_second: f64, burst: u64, ms: u64) -> u64 {
        let limit = RateLimit::new(per_second, Some(burst)).unwrap();
        let mut gate = RateGate::default();
        let end = Timestamp::from_unix_ms(START.unix_ms() + ms);
        let (mut now, mut count) = (START, 0);
        loop {
            now = now.max(gate.open_at(limit));
            if now >= end {
                return count;
            }
            gate.pass(limit, now);
            count += 1;
        }
    }

    #[test]
    fn the_rate_is_met_and_never_passed() {
        for (per_second, burst, ms, expected) in [
            (10.0, 1, 1000, 10),
            (10.0, 5, 1000, 14),
            (0.5, 1, 10_000, 5),
            (1.0, 1, 999, 1),
            (5000.0, 1, 1000, 5000),
            (100_000.0, 1, 100, 10_000),
        ] {
            let found = passed(per_second, burst, ms);
            assert!(found.abs_diff(expected) <= expected / 500, "{per_second}/s, burst {burst}: {found}");
        }
    }

    #[test]
    fn a_faster_limit_does_not_wait_for_what_a_slower_one_is_owed() {
        let slow = RateLimit::new(0.001, Some(100)).unwrap();
        let fast = RateLimit::new(10.0, Some(3)).unwrap();
        let mut gate = RateGate::default();
        (0..100).for_each(|_| gate.pass(slow, START));
        gate.change(fast, START);
        assert_eq!(gate.open_at(fast).since(START).as_millis(), 100);
    }

    #[test]
    fn two_gates_one_after_the_other_pass_no_more_than_one() {
        for burst in [1, 25] {
            let limit = RateLimit::new(25.0, Some(burst)).unwrap();
            let [mut dead, mut heir] = [RateGate::default(); 2];
            (0..burst).for_each(|_| dead.pass(limit, START));
            heir.spend(limit, START);
            assert_eq!(heir.open_at(limit), dead.open_at(limit), "burst {burst}");
            assert_eq!(heir.open_at(limit).since(START).as_millis(), 40);
        }
    }

    #[test]
    fn a_rest_earns_no_more_than_the_burst() {
        let limit = RateLimit::new(10.0, Some(3)).unwrap();
        let mut gate = RateGate::default();
        gate.pass(limit, START);
        let later = START.after(std::time::Duration::from_secs(3600));
        for _ in 0..3 {
            assert!(gate.open_at(limit) <= later);
            gate.pass(limit, later);
        }
        assert_eq!(gate.open_at(limit).since(later).as_millis(), 100);
    }
}
