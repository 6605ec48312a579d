//! How an attempt ended, and what follows from it for the delivery.

use crate::retry::{Chance, RetryPolicy};
use crate::time::Timestamp;
use std::time::Duration;

/// The receiver is gone for good: nothing is to be sent to it any more.
const GONE: u16 = 410;

/// How one attempt ended. A failure of the receiver is a value here, never an error of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 2xx.
    Success,
    /// The one deadline passed.
    Timeout,
    /// No whole answer: refused address, DNS, connect, TLS, reset, garbage.
    NetworkError,
    /// 3xx or 4xx: the receiver does not want it this way. Redirects are never followed.
    Http4xx,
    /// 5xx, or a status outside 200–599.
    Http5xx,
    /// Our side gave up: the gateway was told to stop, or the attempt broke inside.
    Cancelled,
}

impl Outcome {
    /// By the status of a whole answer.
    pub const fn from_status(status: u16) -> Self {
        match status {
            200..=299 => Outcome::Success,
            300..=499 => Outcome::Http4xx,
            _ => Outcome::Http5xx,
        }
    }

    /// All of them.
    pub const ALL: [Outcome; 6] = [
        Outcome::Success,
        Outcome::Timeout,
        Outcome::NetworkError,
        Outcome::Http4xx,
        Outcome::Http5xx,
        Outcome::Cancelled,
    ];

    /// Its place in an array of all.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Timeout => "timeout",
            Outcome::NetworkError => "network_error",
            Outcome::Http4xx => "http_4xx",
            Outcome::Http5xx => "http_5xx",
            Outcome::Cancelled => "cancelled",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

/// What an attempt says about its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It took the event.
    Good,
    /// It answered, and refused this event: that says nothing about the next.
    Neutral,
    /// It asks for less: 429.
    Throttled,
    /// It or what stands before it is overwhelmed: 502, 503, 504.
    Overloaded,
    /// It did not answer in time.
    TimedOut,
    /// It is broken or away.
    Failed,
    /// Our side gave up, so nothing was learned.
    Unknown,
}

impl Health {
    /// By how an attempt ended and the status, if there was a whole answer.
    pub const fn of(outcome: Outcome, status: Option<u16>) -> Self {
        match (outcome, status) {
            (Outcome::Success, _) => Health::Good,
            (Outcome::Cancelled, _) => Health::Unknown,
            (Outcome::Timeout, _) => Health::TimedOut,
            (_, Some(429)) => Health::Throttled,
            (_, Some(502..=504)) => Health::Overloaded,
            (Outcome::Http4xx, _) => Health::Neutral,
            (Outcome::Http5xx | Outcome::NetworkError, _) => Health::Failed,
        }
    }
}

/// Why a delivery was given up on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeathReason {
    /// The policy's attempts are used up.
    Attempts,
    /// The policy's age is reached.
    Age,
    /// The receiver's answer is final: one that the policy names.
    FinalAnswer,
    /// The receiver responded 410 Gone, which disables its destination.
    Disabled,
    /// Its destination was deleted.
    DestinationDeleted,
    /// The transform of its route failed for this event.
    TransformFailed,
    /// Its event is of no use any more: its time to live is over.
    Expired,
    /// The gateway stopped uncleanly several times running while it was sent, the last time with nothing else in flight.
    CrashLoop,
}

impl DeathReason {
    /// All of them.
    pub const ALL: [DeathReason; 8] = [
        DeathReason::Attempts,
        DeathReason::Age,
        DeathReason::FinalAnswer,
        DeathReason::Disabled,
        DeathReason::DestinationDeleted,
        DeathReason::TransformFailed,
        DeathReason::Expired,
        DeathReason::CrashLoop,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            DeathReason::Attempts => "attempts",
            DeathReason::Age => "age",
            DeathReason::FinalAnswer => "final_answer",
            DeathReason::Disabled => "disabled",
            DeathReason::DestinationDeleted => "destination_deleted",
            DeathReason::TransformFailed => "transform_failed",
            DeathReason::Expired => "expired",
            DeathReason::CrashLoop => "crash_loop",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

/// What becomes of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is delivered and no longer owed.
    Delivered,
    /// It is owed again, not before `due`.
    Retry {
        /// Not before this.
        due: Timestamp,
    },
    /// It is given up on.
    Dead(DeathReason),
}

/// What an attempt left behind, as far as the decision needs it.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// How it ended.
    pub outcome: Outcome,
    /// The status, when there was a whole answer.
    pub status: Option<u16>,
    /// How long the receiver asked us to stay away.
    pub retry_after: Option<Duration>,
    /// Attempts made, this one included.
    pub attempts: u32,
    /// Since when it was owed: what a policy's age counts from.
    pub owed_since: Timestamp,
    /// When its event expires.
    pub expires_at: Option<Timestamp>,
}

/// Decides what follows an attempt.
pub fn next(policy: &RetryPolicy, finding: Finding, now: Timestamp, chance: Chance) -> Next {
    assert!(finding.attempts >= 1, "a finding follows an attempt");
    if finding.outcome == Outcome::Success {
        return Next::Delivered;
    }
    match finding.status {
        Some(GONE) => return Next::Dead(DeathReason::Disabled),
        Some(status) if policy.final_statuses().covers(status) => {
            return Next::Dead(DeathReason::FinalAnswer);
        }
        _ => {}
    }
    if finding.attempts >= policy.max_attempts() {
        return Next::Dead(DeathReason::Attempts);
    }
    let delay = policy.delay(finding.attempts, chance).max(finding.retry_after.unwrap_or_default());
    let due = now.after(delay);
    match last_moment(policy, finding) {
        Some((moment, reason)) if due > moment => Next::Dead(reason),
        _ => Next::Retry { due },
    }
}

/// After which nothing is attempted any more, and why.
fn last_moment(policy: &RetryPolicy, finding: Finding) -> Option<(Timestamp, DeathReason)> {
    let of_age = policy.max_age().map(|age| (finding.owed_since.after(age), DeathReason::Age));
    let expiry = finding.expires_at.map(|at| (at, DeathReason::Expired));
    [of_age, expiry].into_iter().flatten().min_by_key(|(moment, _)| *moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::final_status::{FinalStatus, FinalStatuses};
    use crate::retry::{Jitter, Schedule};

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn policy(max_age: Option<Duration>) -> RetryPolicy {
        let delays = vec![Duration::from_secs(10), Duration::from_secs(20)];
        RetryPolicy::new(Schedule::Delays(delays), None, max_age, Jitter::None).unwrap()
    }

    fn finding(outcome: Outcome, status: Option<u16>, attempts: u32) -> Finding {
        Finding { outcome, status, retry_after: None, attempts, owed_since: NOW, expires_at: None }
    }

    fn after_seconds(seconds: u64) -> Next {
        Next::Retry { due: NOW.after(Duration::from_secs(seconds)) }
    }

    #[test]
    fn what_follows_an_attempt() {
        let chance = Chance::new(0);
        let rows = [
            (finding(Outcome::Success, Some(204), 1), Next::Delivered),
            (finding(Outcome::Success, Some(200), 3), Next::Delivered),
            (finding(Outcome::Http5xx, Some(500), 1), after_seconds(10)),
            (finding(Outcome::Timeout, None, 2), after_seconds(20)),
            (finding(Outcome::NetworkError, None, 3), Next::Dead(DeathReason::Attempts)),
            (finding(Outcome::Http4xx, Some(404), 1), after_seconds(10)),
            (finding(Outcome::Http4xx, Some(410), 1), Next::Dead(DeathReason::Disabled)),
        ];
        for (finding, expected) in rows {
            assert_eq!(next(&policy(None), finding, NOW, chance), expected, "{finding:?}");
        }
    }

    #[test]
    fn an_answer_that_the_policy_names_is_final_at_once() {
        let named = FinalStatuses::new([FinalStatus::Code(404), FinalStatus::Class3xx]);
        let policy = policy(None).with_final_statuses(named);
        for (status, expected) in [
            (404, Next::Dead(DeathReason::FinalAnswer)),
            (302, Next::Dead(DeathReason::FinalAnswer)),
            (410, Next::Dead(DeathReason::Disabled)),
            (400, after_seconds(10)),
            (503, after_seconds(10)),
        ] {
            let finding = finding(Outcome::from_status(status), Some(status), 1);
            assert_eq!(next(&policy, finding, NOW, Chance::new(0)), expected, "{status}");
        }
    }

    #[test]
    fn retry_after_delays_but_never_hastens() {
        let asked = |seconds| Finding {
            retry_after: Some(Duration::from_secs(seconds)),
            ..finding(Outcome::Http4xx, Some(429), 1)
        };
        assert_eq!(next(&policy(None), asked(60), NOW, Chance::new(0)), after_seconds(60));
        assert_eq!(next(&policy(None), asked(1), NOW, Chance::new(0)), after_seconds(10));
    }

    #[test]
    fn a_delivery_too_old_for_its_next_attempt_is_dead() {
        let policy = policy(Some(Duration::from_secs(9)));
        let finding = finding(Outcome::Http5xx, Some(503), 1);
        assert_eq!(next(&policy, finding, NOW, Chance::new(0)), Next::Dead(DeathReason::Age));
    }

    #[test]
    fn a_retry_after_the_expiry_is_given_up_at_once() {
        let expires = |seconds, max_age: Option<u64>| {
            let expires_at = Some(NOW.after(Duration::from_secs(seconds)));
            let finding = Finding { expires_at, ..finding(Outcome::Http5xx, Some(503), 1) };
            next(&policy(max_age.map(Duration::from_secs)), finding, NOW, Chance::new(0))
        };
        assert_eq!(expires(10, None), after_seconds(10), "the last moment still counts");
        assert_eq!(expires(9, None), Next::Dead(DeathReason::Expired));
        assert_eq!(expires(9, Some(8)), Next::Dead(DeathReason::Age), "whichever ends first");
        assert_eq!(expires(8, Some(9)), Next::Dead(DeathReason::Expired));
        assert_eq!(expires(60, Some(9)), Next::Dead(DeathReason::Age));
    }

    #[test]
    fn statuses_have_their_outcome() {
        for (status, outcome) in [
            (200, Outcome::Success),
            (299, Outcome::Success),
            (302, Outcome::Http4xx),
            (429, Outcome::Http4xx),
            (500, Outcome::Http5xx),
            (999, Outcome::Http5xx),
        ] {
            assert_eq!(Outcome::from_status(status), outcome);
        }
    }
}
