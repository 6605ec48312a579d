//! The pause of a receiver that says it is overwhelmed and not for how long: 429, 502, 503 or 504 without `Retry-After`.
//!
//! Such answers among good ones are the limiter's: fewer attempts at once. With no good one among the last answers, the first
//! is the limiter's too. When an attempt that was made after it has another, fewer are not enough, or there are none fewer:
//! nothing is sent for a second. While it goes on like that each pause is twice as long as the last, up to its cap.

use super::Verdict;
use crate::limits::{PUSHBACK_HOLD_FIRST, PUSHBACK_HOLD_MAX};
use crate::outcome::Health;
use crate::time::Timestamp;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pushback {
    /// Which of the last 32 answers that say something here were good, the newest in the lowest bit. One that fails two of
    /// three at random has no good one among so many once in 400,000.
    good: u32,
    /// Rounds that ended so, since the last good answer.
    rounds: u32,
    /// When the last of them did.
    at: Timestamp,
    until: Timestamp,
}

impl Pushback {
    /// Nothing is sent before this.
    pub(super) fn until(&self) -> Timestamp {
        self.until
    }

    /// Learns from an attempt that was made at `sent_at` and has ended now.
    pub(super) fn learn(&mut self, verdict: Verdict, sent_at: Timestamp, now: Timestamp) {
        match verdict.health {
            // What was said meanwhile stands: the good answer may be to an older attempt.
            Health::Good => (self.rounds, self.good) = (0, self.good << 1 | 1),
            Health::Throttled | Health::Overloaded if verdict.hold_until.is_none() => {
                self.pushed(sent_at, now);
            }
            _ => {}
        }
    }

    /// Once a round: attempts that were made before the last such answer do not know of it.
    fn pushed(&mut self, sent_at: Timestamp, now: Timestamp) {
        self.good <<= 1;
        if self.good != 0 {
            return;
        }
        if self.rounds > 0 && sent_at < self.at {
            return;
        }
        if let Some(doublings) = self.rounds.checked_sub(1) {
            self.until = now.after(pause(doublings));
        }
        self.rounds = self.rounds.saturating_add(1);
        self.at = now;
    }
}

fn pause(doublings: u32) -> Duration {
    let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
    PUSHBACK_HOLD_FIRST.saturating_mul(factor).min(PUSHBACK_HOLD_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn verdict(health: Health) -> Verdict {
        Verdict { health, latency: Duration::from_millis(1), hold_until: None }
    }

    /// Attempts one after the other, each made as soon as it may be; gives the pauses behind them in seconds.
    fn check(answers: &[Health], pauses: &[u64]) {
        let (mut pushback, mut now) = (Pushback::default(), START);
        let pause = |health: &Health| {
            let sent_at = now.max(pushback.until());
            now = sent_at.after(Duration::from_millis(1));
            pushback.learn(verdict(*health), sent_at, now);
            pushback.until().since(now).as_secs()
        };
        assert_eq!(answers.iter().map(pause).collect::<Vec<u64>>(), pauses, "{answers:?}");
    }

    #[test]
    fn pauses_double_up_to_their_cap_and_a_good_answer_begins_anew() {
        use Health::{Failed, Good, Neutral, Overloaded, Throttled, TimedOut};
        check(&[Throttled; 8], &[0, 1, 2, 4, 8, 16, 30, 30]);
        check(&[Throttled, Overloaded, Good, Throttled, Overloaded], &[0, 1, 0, 0, 0]);
        let turned = [&[Good][..], &[Overloaded; 35]].concat();
        check(&turned, &[&[0; 33][..], &[1, 2, 4]].concat());
        check(&[Overloaded, Good, Overloaded, Good, Overloaded], &[0; 5]);
        check(&[Failed, TimedOut, Neutral, Failed], &[0; 4]);
        check(&[Throttled; 70], &[&[0, 1, 2, 4, 8, 16][..], &[30; 64]].concat());
    }

    #[test]
    fn a_round_counts_once_however_many_were_made_in_it() {
        let mut pushback = Pushback::default();
        for ms in 1..=50 {
            pushback.learn(verdict(Health::Throttled), START, START.after(Duration::from_millis(ms)));
        }
        assert_eq!(pushback.until(), Timestamp::ZERO);
    }

    #[test]
    fn an_answer_that_says_for_how_long_is_none_of_these() {
        let mut pushback = Pushback::default();
        for _ in 0..3 {
            let asked = Verdict { hold_until: Some(START), ..verdict(Health::Throttled) };
            pushback.learn(asked, START, START);
        }
        assert_eq!(pushback.until(), Timestamp::ZERO);
    }
}
