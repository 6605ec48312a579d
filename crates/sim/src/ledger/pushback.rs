//! How long a receiver must be left alone that says it is overwhelmed and not for how long.

use postrider_core::outcome::Health;
use postrider_core::scheduler::Verdict;
use postrider_core::time::Timestamp;
use std::time::Duration;

/// The pauses behind the first, second and further rounds without a good answer.
const PAUSES_SECONDS: [u64; 7] = [0, 1, 2, 4, 8, 16, 30];

#[derive(Debug, Default)]
pub(super) struct PushbackModel {
    /// When each round ended, since the last good answer.
    rounds: Vec<Timestamp>,
    pub(super) until: Timestamp,
}

impl PushbackModel {
    /// The scheduler hears now how an attempt went that was made at `sent_at`.
    pub(super) fn learn(&mut self, now: Timestamp, sent_at: Timestamp, verdict: Verdict) {
        let overwhelmed = matches!(verdict.health, Health::Throttled | Health::Overloaded);
        let knew = self.rounds.last().is_none_or(|last| *last <= sent_at);
        if verdict.health == Health::Good {
            self.rounds.clear();
        } else if overwhelmed && verdict.hold_until.is_none() && knew {
            let nth = self.rounds.len().min(PAUSES_SECONDS.len() - 1);
            self.until = self.until.max(now.after(Duration::from_secs(PAUSES_SECONDS[nth])));
            self.rounds.push(now);
        }
    }
}
