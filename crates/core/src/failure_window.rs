//! How many of the last attempts at a destination failed.

use crate::destination::FailureRate;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// The ends of the last attempts, from a failure on. Takes no memory while none of them is a failure.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureWindow {
    ends: VecDeque<End>,
    failures: u32,
}

/// The end of an attempt: its millisecond, and in the lowest bit whether it failed. A window may hold a thousand.
#[derive(Clone, Copy, Debug)]
struct End(u64);

impl End {
    fn new(failed: bool, at: Timestamp) -> Self {
        End(at.unix_ms() << 1 | u64::from(failed))
    }

    fn is_failure(self) -> bool {
        self.0 & 1 == 1
    }

    fn at(self) -> Timestamp {
        Timestamp::from_unix_ms(self.0 >> 1)
    }
}

impl FailureWindow {
    /// An attempt succeeded.
    pub(crate) fn succeeded(&mut self, rate: FailureRate, now: Timestamp) {
        if !self.ends.is_empty() {
            self.push(End::new(false, now), rate, now);
        }
    }

    /// An attempt failed. Whether so many have that the receiver counts as down.
    pub(crate) fn failed(&mut self, rate: FailureRate, now: Timestamp) -> bool {
        self.push(End::new(true, now), rate, now);
        self.ends.len() >= rate.attempts() as usize && self.failures >= rate.failures()
    }

    fn push(&mut self, end: End, rate: FailureRate, now: Timestamp) {
        self.ends.push_back(end);
        self.failures += u32::from(end.is_failure());
        while let Some(first) = self.ends.front().copied() {
            let is_over = self.ends.len() > rate.attempts() as usize || now.since(first.at()) > rate.window();
            if first.is_failure() && !is_over {
                return;
            }
            self.failures -= u32::from(first.is_failure());
            self.ends.pop_front();
        }
        self.ends = VecDeque::new();
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
                window.failed(rate, now)
            } else {
                window.succeeded(rate, now);
                false
            };
            assert!(window.ends.len() <= rate.attempts() as usize);
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
    fn a_healthy_receiver_takes_no_memory() {
        let (mut window, rate) = (FailureWindow::default(), rate(50, 4, 60));
        window.failed(rate, START);
        (0..4).for_each(|_| window.succeeded(rate, START));
        assert_eq!((window.ends.capacity(), window.failures), (0, 0));
    }
}
