//! What attempts show of a receiver: whether its circuit may open by rate, and whether it must.
//!
//! It may not while successes go on: not while one was heard of within the last seconds, nor by failures that began before
//! or beside something that is still under way. Attempts of one millisecond have no order between them, so there is a little
//! between may and must.

use postrider_core::destination::FailureRate;
use postrider_core::id::DeliveryId;
use postrider_core::limits::{
    CIRCUIT_QUIET_MIN, CIRCUIT_QUIET_ROUNDS, CIRCUIT_SILENCE, CIRCUIT_SILENCE_FAILURES,
};
use postrider_core::time::Timestamp;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// In the order in which they began.
    attempts: Vec<Attempt>,
    succeeded_at: Timestamp,
    /// Since when failures were heard of and no success.
    failing_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct Attempt {
    delivery: DeliveryId,
    sent_at: Timestamp,
    /// Unknown while it is under way.
    failed: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    MustNot,
    May,
    Must,
}

/// How attempts of one millisecond are taken to have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ties {
    ForOpening,
    Against,
}

impl Evidence {
    pub(super) fn begin(&mut self, delivery: DeliveryId, now: Timestamp) {
        self.attempts.push(Attempt { delivery, sent_at: now, failed: None });
    }

    pub(super) fn forget(&mut self, delivery: DeliveryId) {
        self.attempts.retain(|attempt| attempt.delivery != delivery || attempt.failed.is_some());
    }

    /// An attempt failed or succeeded, or says nothing.
    pub(super) fn end(
        &mut self,
        rate: FailureRate,
        delivery: DeliveryId,
        failed: Option<bool>,
        now: Timestamp,
    ) -> Verdict {
        let of_it = |attempt: &&mut Attempt| attempt.delivery == delivery && attempt.failed.is_none();
        let Some(found) = self.attempts.iter_mut().find(of_it) else { return Verdict::MustNot };
        let Some(failed) = failed else {
            self.forget(delivery);
            return Verdict::MustNot;
        };
        found.failed = Some(failed);
        if !failed {
            (self.succeeded_at, self.failing_since) = (now, None);
            return Verdict::MustNot;
        }
        let (since, took) = (found.sent_at.max(self.succeeded_at), now.since(found.sent_at));
        self.failing_since.get_or_insert(since);
        self.forget_old(rate);
        match [Ties::ForOpening, Ties::Against].map(|ties| self.is_down(rate, took, ties, now)) {
            [_, true] => Verdict::Must,
            [true, false] => Verdict::May,
            [false, false] => Verdict::MustNot,
        }
    }

    /// What is so far back that no window reaches it.
    fn forget_old(&mut self, rate: FailureRate) {
        let over = self.attempts.len().saturating_sub(20 * rate.attempts() as usize);
        let ended = self.attempts.iter().take(over).take_while(|attempt| attempt.failed.is_some()).count();
        self.attempts.drain(..ended);
    }

    fn is_down(&self, rate: FailureRate, took: Duration, ties: Ties, now: Timestamp) -> bool {
        let Some(failing_since) = self.failing_since else { return false };
        let counted = self.counted(rate, ties, now);
        let first = counted.len().saturating_sub(rate.attempts() as usize);
        let last = &counted[first..];
        let failures = last.iter().filter(|attempt| attempt.failed == Some(true)).count();
        let quiet = now.since(failing_since);
        let spanned = last.last().map_or(Duration::ZERO, |last| last.sent_at.since(failing_since));
        let quiet_min = CIRCUIT_QUIET_MIN.max(took * CIRCUIT_QUIET_ROUNDS);
        let long_enough = rate.percent() < 100 || spanned >= quiet_min;
        let enough = last.len() == rate.attempts() as usize
            && failures * 100 >= last.len() * rate.percent() as usize
            && long_enough;
        let Some(oldest) = last.first() else { return false };
        let silent = failures == last.len()
            && failures >= CIRCUIT_SILENCE_FAILURES as usize
            && now.since(failing_since.max(oldest.sent_at)) >= CIRCUIT_SILENCE;
        match ties {
            // From which of them on is counted must be certain.
            Ties::Against => {
                let beside = counted.iter().filter(|attempt| attempt.sent_at == oldest.sent_at);
                (enough && oldest.failed == Some(true) && beside.count() == 1) || silent
            }
            // Those that began with the oldest may have begun before it or behind.
            Ties::ForOpening => {
                let beside = counted.iter().filter(|attempt| attempt.sent_at >= oldest.sent_at);
                let most = beside.filter(|attempt| attempt.failed == Some(true)).count();
                let may_be = last.len() == rate.attempts() as usize
                    && most * 100 >= last.len() * rate.percent() as usize
                    && long_enough;
                may_be || silent || (quiet >= CIRCUIT_SILENCE && self.no_success_since(failing_since))
            }
        }
    }

    fn no_success_since(&self, failing_since: Timestamp) -> bool {
        let failed = self.attempts.iter().filter(|attempt| attempt.failed == Some(true));
        self.succeeded_at <= failing_since && failed.count() >= CIRCUIT_SILENCE_FAILURES as usize
    }

    /// Those that ended before anything that is under way began, within the window; where all must fail, since the last
    /// success began.
    fn counted(&self, rate: FailureRate, ties: Ties, now: Timestamp) -> Vec<Attempt> {
        let under_way = self.attempts.iter().filter(|attempt| attempt.failed.is_none());
        let oldest = under_way.map(|attempt| attempt.sent_at).min().unwrap_or(Timestamp::MAX);
        let succeeded = self.attempts.iter().filter(|attempt| attempt.failed == Some(false));
        let last_success = succeeded.map(|attempt| attempt.sent_at).max().filter(|_| rate.percent() == 100);
        let is_counted = |attempt: &&Attempt| {
            let Attempt { sent_at, failed, .. } = **attempt;
            let is_beside =
                |last: Timestamp| ties == Ties::ForOpening && failed == Some(true) && sent_at == last;
            failed.is_some()
                && sent_at <= oldest
                && last_success.is_none_or(|last| sent_at > last || is_beside(last))
                && now.since(sent_at) <= rate.window()
        };
        self.attempts.iter().filter(is_counted).copied().collect()
    }
}
