//! How long a receiver must be left alone that says it is overwhelmed and not for how long.

use postrider_core::outcome::Health;
use postrider_core::scheduler::Verdict;
use postrider_core::time::Timestamp;
use std::time::Duration;

/// The pauses behind the first, second and further rounds without a good answer.
const PAUSES_SECONDS: [u64; 7] = [0, 1, 2, 4, 8, 16, 30];

/// A receiver that took one of so many is not left alone.
const GOOD_AMONG: usize = 32;

#[derive(Debug, Default)]
pub(super) struct PushbackModel {
    /// When each round ended, since the last good answer.
    rounds: Vec<Timestamp>,
    /// Which answers were good, of those that say something about this.
    good: Vec<bool>,
    pub(super) until: Timestamp,
}

impl PushbackModel {
    /// The scheduler hears now how an attempt went that was made at `sent_at`.
    pub(super) fn learn(&mut self, now: Timestamp, sent_at: Timestamp, verdict: Verdict) {
        let overwhelmed = matches!(verdict.health, Health::Throttled | Health::Overloaded);
        let knew = self.rounds.last().is_none_or(|last| *last <= sent_at);
        let pushed = overwhelmed && verdict.hold_until.is_none();
        if pushed || verdict.health == Health::Good {
            self.good.push(!pushed);
        }
        let takes_some = self.good.iter().rev().take(GOOD_AMONG).any(|good| *good);
        if verdict.health == Health::Good {
            self.rounds.clear();
        } else if pushed && knew && !takes_some {
            let nth = self.rounds.len().min(PAUSES_SECONDS.len() - 1);
            self.until = self.until.max(now.after(Duration::from_secs(PAUSES_SECONDS[nth])));
            self.rounds.push(now);
        }
    }
}
