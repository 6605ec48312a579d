//! What can be seen of the scheduler from outside.

use super::destination::{Destination, Standing};
use super::{Depth, LimitReason};
use crate::breaker::{Circuit, CircuitReason};
use crate::delivery::Priority;
use crate::time::Timestamp;

/// What can be seen of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestinationView {
    /// Attempts in flight.
    pub in_flight: u32,
    /// Owed, what is in flight included.
    pub pending: Depth,
    /// Attempts allowed at once now.
    pub limit: u32,
    /// Why no more and no less.
    pub limit_reason: LimitReason,
    /// Where its circuit stands.
    pub circuit: Circuit,
    /// Since when it is not closed; unknown when that was before the start.
    pub opened_at: Option<Timestamp>,
    /// Why it is not closed; unknown when it opened before the start.
    pub circuit_reason: Option<CircuitReason>,
    /// When an open circuit makes its next probe, if time alone brings it.
    pub next_probe_at: Option<Timestamp>,
    /// Failures in a row: while it is closed of those that count towards opening it, else all, failed probes included.
    pub consecutive_failures: u32,
    /// Keys of an ordered destination that wait for a dead letter.
    pub blocked_keys: usize,
    /// Why nothing more is sent now.
    pub why: Why,
    /// Until when, if time alone ends it.
    pub until: Option<Timestamp>,
}

impl DestinationView {
    /// Whether nothing is sent there until something happens that no time brings: an operator's word, or the end of a probe.
    pub fn is_held_for_good(&self) -> bool {
        self.until.is_none() && matches!(self.why, Why::Paused | Why::Circuit)
    }
}

/// Why a destination sends no more than it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing waits.
    Nothing,
    /// What waits is not due yet.
    NotDue,
    /// All its concurrency is in use.
    Full,
    /// What waits has a large body, and as many bytes are in flight as may be.
    Bytes,
    /// Its rate limit.
    Rate,
    /// Its circuit is open or being probed.
    Circuit,
    /// The receiver asked to be left alone.
    Throttled,
    /// The receiver says again that it is overwhelmed, and not for how long.
    Overwhelmed,
    /// The node had no descriptor, port or memory left for an attempt.
    NodeResources,
    /// Requests of a run that was cut off may still be running there.
    Held,
    /// It is paused or disabled.
    Paused,
    /// Its ordered lines wait for dead letters.
    Blocked,
    /// It may send and waits for its turn.
    Slots,
}

impl Why {
    const ALL: [Why; 13] = [
        Why::Nothing,
        Why::NotDue,
        Why::Full,
        Why::Bytes,
        Why::Rate,
        Why::Circuit,
        Why::Throttled,
        Why::Overwhelmed,
        Why::NodeResources,
        Why::Held,
        Why::Paused,
        Why::Blocked,
        Why::Slots,
    ];

    /// Whether nothing but limits keeps what is due from being sent: it grows old where more comes in than they let through.
    pub const fn is_limit(self) -> bool {
        matches!(self, Why::Full | Why::Bytes | Why::Rate | Why::Slots)
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Why::ALL.into_iter().find(|why| why.as_str() == text)
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Why::Nothing => "nothing_pending",
            Why::NotDue => "not_due",
            Why::Full => "concurrency",
            Why::Bytes => "bytes_in_flight",
            Why::Rate => "rate_limit",
            Why::Circuit => "circuit",
            Why::Throttled => "retry_after",
            Why::Overwhelmed => "overwhelmed",
            Why::NodeResources => "node_resources",
            Why::Held => "unclean_stop",
            Why::Paused => "paused",
            Why::Blocked => "dead_letter",
            Why::Slots => "slots",
        }
    }
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Attempts started.
    pub sent: u64,
    /// Times something was due and its destination had no concurrency left.
    pub concurrency_slot_denied: u64,
    /// Bands by which deliveries had been raised when they were sent, by the priority they came with.
    pub promotions: [u64; Priority::COUNT],
    /// Times a circuit opened.
    pub circuits_opened: u64,
    /// Times an open circuit became half-open, because its rest was over and a probe began.
    pub circuits_half_opened: u64,
}

impl Destination {
    /// What can be seen of it.
    pub(super) fn view(&self, now: Timestamp) -> DestinationView {
        let (why, until) = match self.standing_shown(now) {
            Standing::Eligible => (Why::Slots, None),
            Standing::Until(at, why) => (why, Some(at)),
            Standing::Idle(why) => (why, None),
        };
        let next_probe_at = match self.breaker().circuit() {
            Circuit::Open { until: Timestamp::MAX } | Circuit::Closed | Circuit::HalfOpen => None,
            Circuit::Open { until: cooled } => match why {
                // The first that comes is the probe.
                Why::Nothing => Some(cooled).filter(|at| *at > now),
                _ => until,
            },
        };
        DestinationView {
            in_flight: self.in_flight,
            pending: self.pending,
            limit: self.limit(),
            limit_reason: self.limiter.reason(),
            circuit: self.breaker().circuit(),
            opened_at: self.outage.opened_at(),
            circuit_reason: self.breaker().reason(),
            next_probe_at,
            consecutive_failures: match self.breaker().circuit() {
                Circuit::Closed => self.breaker().consecutive_failures(),
                Circuit::Open { .. } | Circuit::HalfOpen => self.outage.failures(),
            },
            blocked_keys: self.ordered.as_ref().map_or(0, |ordered| ordered.blocked_keys()),
            why,
            until,
        }
    }

    /// What keeps it from sending for longest. That nothing is due yet hides no open circuit: what is due next is its probe.
    fn standing_shown(&self, now: Timestamp) -> Standing {
        match self.standing(now) {
            Standing::Until(due, Why::NotDue) => match self.shut(now) {
                Some(Standing::Until(at, why)) if at > due => Standing::Until(at, why),
                Some(idle @ Standing::Idle(_)) => idle,
                _ if self.breaker().circuit() != Circuit::Closed => Standing::Until(due, Why::Circuit),
                _ => Standing::Until(due, Why::NotDue),
            },
            other => other,
        }
    }

    /// Why none of what waits could be sent, limits apart.
    pub(super) fn why_nothing(&self, now: Timestamp) -> Why {
        if self.waits_for_bytes(now) {
            return Why::Bytes;
        }
        if self.all_heads().any(|head| head.due <= now) {
            // Retries or replays, which have all of the concurrency that they may have.
            return Why::Full;
        }
        let blocked = self.ordered.as_ref().is_some_and(|ordered| ordered.blocked_keys() > 0);
        if blocked && self.in_flight == 0 { Why::Blocked } else { Why::Nothing }
    }

    /// Whether there is anything to see.
    pub(super) fn is_notable(&self) -> bool {
        self.pending.rows > 0
            || self.in_flight > 0
            || self.breaker().circuit() != Circuit::Closed
            || self.limiter.reason() != LimitReason::Configured
    }
}
