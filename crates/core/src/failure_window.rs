//! How many of the last attempts at a destination failed.

use crate::destination::FailureRate;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// The last attempts that have ended, in the order in which they began, from a failure on. Takes no memory while none of
/// them is a failure.
///
/// In the order in which they end, those that run into their timeout would come in a burst: hundreds that began at once
/// would look like a receiver that is down, whatever it answered meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureWindow {
    attempts: VecDeque<Ended>,
    failures: u32,
    /// What began before this is not counted any more.
    since: Timestamp,
}

/// An attempt that has ended: the millisecond in which it began, and in the lowest bit whether it failed.
#[derive(Clone, Copy, Debug)]
struct Ended(u64);

impl Ended {
    fn is_failure(self) -> bool {
        self.0 & 1 == 1
    }

    fn sent_at(self) -> Timestamp {
        Timestamp::from_unix_ms(self.0 >> 1)
    }
}

impl FailureWindow {
    /// Counts what begins from now on.
    pub(crate) fn since(now: Timestamp) -> Self {
        FailureWindow { since: now, ..FailureWindow::default() }
    }

    /// An attempt succeeded.
    pub(crate) fn succeeded(&mut self, rate: FailureRate, sent_at: Timestamp, now: Timestamp) {
        if self.attempts.is_empty() {
            self.since = self.since.max(sent_at);
        } else {
            self.put(false, sent_at);
        }
        self.trim(rate, now);
    }

    /// An attempt failed. Whether so many have that the receiver counts as down.
    pub(crate) fn failed(&mut self, rate: FailureRate, sent_at: Timestamp, now: Timestamp) -> bool {
        self.put(true, sent_at);
        self.trim(rate, now);
        self.attempts.len() >= rate.attempts() as usize && self.failures >= rate.failures()
    }

    fn put(&mut self, failed: bool, sent_at: Timestamp) {
        if sent_at >= self.since {
            let index = self.attempts.partition_point(|earlier| earlier.sent_at() <= sent_at);
            self.attempts.insert(index, Ended(sent_at.unix_ms() << 1 | u64::from(failed)));
            self.failures += u32::from(failed);
        }
    }

    fn trim(&mut self, rate: FailureRate, now: Timestamp) {
        while let Some(first) = self.attempts.front().copied() {
            let is_over =
                self.attempts.len() > rate.attempts() as usize || now.since(first.sent_at()) > rate.window();
            if first.is_failure() && !is_over {
                return;
            }
            self.failures -= u32::from(first.is_failure());
            self.since = self.since.max(first.sent_at());
            self.attempts.pop_front();
        }
        self.attempts = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destination::{CircuitParts, CircuitPolicy, CircuitTrip};
    use std::time::Duration;

    const START: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

    fn rate(percent: u64, attempts: u64, seconds: u64) -> FailureRate {
        let parts = CircuitParts {
            failure_percent: Some(percent),
            window_attempts: Some(attempts),
            window_seconds: Some(seconds),
            ..CircuitParts::default()
        };
        match CircuitPolicy::from_parts(parts).unwrap().trip() {
            CircuitTrip::ByRate(rate) => rate,
            CircuitTrip::InARow(_) => unreachable!("no threshold was given"),
        }
    }

    /// Attempts a second apart, `x` for one that failed; gives after how many the receiver first counts as down.
    fn found_down(rate: FailureRate, ends: &str) -> Option<usize> {
        let mut window = FailureWindow::default();
        let down = |(number, end): (usize, char)| {
            let now = START.after(Duration::from_secs(number as u64));
            let down = if end == 'x' {
                window.failed(rate, now, now)
            } else {
                window.succeeded(rate, now, now);
                false
            };
            assert!(window.attempts.len() <= rate.attempts() as usize);
            down.then_some(number + 1)
        };
        ends.chars().enumerate().find_map(down)
    }

    #[test]
    fn a_receiver_is_down_when_its_share_of_failures_is_reached_among_the_last_attempts() {
        let all = rate(100, 4, 3600);
        assert_eq!(found_down(all, "xxx"), None, "fewer than are looked at");
        assert_eq!(found_down(all, "xxxx"), Some(4));
        assert_eq!(found_down(all, ".xxx.xxx.xxx.xxx"), None);
        assert_eq!(found_down(all, ".......xxxx"), Some(11), "what was before does not count");
        let half = rate(50, 4, 3600);
        assert_eq!(found_down(half, "....xx"), None, "they are counted from a failure on");
        assert_eq!(found_down(half, "....xxx.x"), Some(9));
        assert_eq!(found_down(half, "x...x...x...x"), None);
        assert_eq!(found_down(half, "x.x."), None, "it opens on a failure");
        assert_eq!(found_down(half, "x..x"), Some(4));
    }

    #[test]
    fn attempts_of_long_ago_do_not_count() {
        assert_eq!(found_down(rate(100, 4, 2), "xxxxxxxx"), None, "three at most are within two seconds");
        assert_eq!(found_down(rate(100, 4, 3), "xxxx"), Some(4));
    }

    #[test]
    fn a_burst_of_timeouts_says_nothing_about_what_began_after_them() {
        let (mut window, rate) = (FailureWindow::default(), rate(100, 4, 60));
        let at = |seconds| START.after(Duration::from_secs(seconds));
        assert!(!window.failed(rate, at(1), at(1)));
        window.succeeded(rate, at(2), at(2));
        assert!(!window.failed(rate, at(3), at(3)));
        let burst: Vec<bool> = (0..10).map(|_| window.failed(rate, at(1), at(11))).collect();
        assert_eq!(burst, [false; 10]);
        let later: Vec<bool> = (12..15).map(|now| window.failed(rate, at(now), at(now))).collect();
        assert_eq!(later, [false, false, true]);
        let mut healthy = FailureWindow::default();
        healthy.succeeded(rate, at(2), at(2));
        assert!((0..10).all(|_| !healthy.failed(rate, at(1), at(11))));
    }

    #[test]
    fn a_healthy_receiver_takes_no_memory() {
        let (mut window, rate) = (FailureWindow::default(), rate(50, 4, 60));
        window.failed(rate, START, START);
        (0..4).for_each(|_| window.succeeded(rate, START, START));
        assert_eq!((window.attempts.capacity(), window.failures), (0, 0));
    }
}
