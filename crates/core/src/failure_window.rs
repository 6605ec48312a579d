//! How many of the last attempts failed, and whether that means that the receiver is down.

use crate::breaker::CircuitReason;
use crate::destination::FailureRate;
use crate::limits::{
    CIRCUIT_QUIET_MIN, CIRCUIT_QUIET_ROUNDS, CIRCUIT_SILENCE, CIRCUIT_SILENCE_FAILURES,
    CIRCUIT_WINDOW_ATTEMPTS_MAX, MAX_CONCURRENCY_MAX,
};
use crate::time::Timestamp;
use std::collections::VecDeque;

/// Attempts that are kept while one that began before them is under way; failures beyond are not counted. Eight bytes each.
const UNSETTLED_MAX: usize = 4096;
const _: () = assert!(UNSETTLED_MAX > (MAX_CONCURRENCY_MAX + CIRCUIT_WINDOW_ATTEMPTS_MAX) as usize);

/// The last attempts in the order in which they began. Takes no memory while nothing is under way and none failed.
///
/// An attempt counts once all that began before it have ended. In the order in which they end, failures that come at
/// once would fill the window while slow successes are still under way, and timeouts would come in a burst: either would
/// look like a receiver that is down, whatever it answered meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureWindow {
    /// From a failure on, as many as are looked at.
    settled: VecDeque<Place>,
    /// Failures among them.
    failures: u32,
    /// From the oldest that is under way on.
    unsettled: VecDeque<Place>,
    /// When the last success was heard of.
    succeeded_at: Timestamp,
    /// Since when there were failures and no success.
    failing_since: Option<Timestamp>,
}

/// The millisecond in which an attempt began, and in the two lowest bits where it stands.
#[derive(Clone, Copy, Debug)]
struct Place(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    UnderWay,
    /// The same, and one that began later has succeeded, where none may: its failure says nothing any more.
    Overtaken,
    Ended(End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Success,
    Failure,
}

impl Place {
    fn new(sent_at: Timestamp, stand: Stand) -> Self {
        let stand = match stand {
            Stand::UnderWay => 0,
            Stand::Overtaken => 1,
            Stand::Ended(End::Success) => 2,
            Stand::Ended(End::Failure) => 3,
        };
        Place(sent_at.unix_ms() << 2 | stand)
    }

    fn stand(self) -> Stand {
        match self.0 & 3 {
            0 => Stand::UnderWay,
            1 => Stand::Overtaken,
            2 => Stand::Ended(End::Success),
            _ => Stand::Ended(End::Failure),
        }
    }

    fn has_ended(self) -> bool {
        matches!(self.stand(), Stand::Ended(_))
    }

    fn is_failure(self) -> bool {
        self.stand() == Stand::Ended(End::Failure)
    }

    fn sent_at(self) -> Timestamp {
        Timestamp::from_unix_ms(self.0 >> 2)
    }
}

impl FailureWindow {
    /// An attempt begins.
    pub(crate) fn begin(&mut self, now: Timestamp) {
        let index = self.unsettled.partition_point(|earlier| earlier.sent_at() <= now);
        self.unsettled.insert(index, Place::new(now, Stand::UnderWay));
    }

    /// An attempt ended and says nothing.
    pub(crate) fn forget(&mut self, sent_at: Timestamp) {
        if let Some(index) = self.under_way(sent_at) {
            self.unsettled.remove(index);
        }
        self.give_back();
    }

    /// An attempt ended. Whether so many have failed that the receiver counts as down.
    pub(crate) fn end(
        &mut self,
        rate: FailureRate,
        end: End,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Option<CircuitReason> {
        // What began before this window did is none of its attempts.
        let index = self.under_way(sent_at)?;
        match end {
            End::Success => (self.succeeded_at, self.failing_since) = (now, None),
            End::Failure => {
                self.failing_since.get_or_insert(sent_at.max(self.succeeded_at));
            }
        }
        let is_left_out = self.unsettled[index].stand() == Stand::Overtaken
            || (index > 0 && self.unsettled.len() > UNSETTLED_MAX);
        match end {
            End::Success if rate.is_all() => self.begin_anew_behind(index),
            _ if is_left_out => drop(self.unsettled.remove(index)),
            _ => self.unsettled[index] = Place::new(sent_at, Stand::Ended(end)),
        }
        self.settle(rate, now);
        if end == End::Failure { self.down(rate, sent_at, now) } else { None }
    }

    fn under_way(&self, sent_at: Timestamp) -> Option<usize> {
        let first = self.unsettled.partition_point(|earlier| earlier.sent_at() < sent_at);
        let of_then = self.unsettled.range(first..).take_while(|place| place.sent_at() == sent_at);
        of_then.enumerate().find(|(_, place)| !place.has_ended()).map(|(index, _)| first + index)
    }

    /// Where all must have failed, failures of what began before a success say nothing any more.
    fn begin_anew_behind(&mut self, success: usize) {
        (self.settled, self.failures) = (VecDeque::new(), 0);
        let mut index = 0;
        self.unsettled.retain_mut(|place| {
            let at = index;
            index += 1;
            if at < success && !place.has_ended() {
                *place = Place::new(place.sent_at(), Stand::Overtaken);
                return true;
            }
            at > success
        });
    }

    /// Counts what ended and began before all that is under way.
    fn settle(&mut self, rate: FailureRate, now: Timestamp) {
        while let Some(place) = self.unsettled.pop_front_if(|place| place.has_ended()) {
            self.failures += u32::from(place.is_failure());
            self.settled.push_back(place);
        }
        self.trim(rate, now);
        self.give_back();
    }

    fn trim(&mut self, rate: FailureRate, now: Timestamp) {
        while let Some(first) = self.settled.front().copied() {
            let is_over =
                self.settled.len() > rate.attempts() as usize || now.since(first.sent_at()) > rate.window();
            if first.is_failure() && !is_over {
                return;
            }
            self.failures -= u32::from(first.is_failure());
            self.settled.pop_front();
        }
        self.settled = VecDeque::new();
    }

    fn give_back(&mut self) {
        if self.unsettled.is_empty() {
            self.unsettled = VecDeque::new();
        }
    }

    fn down(&self, rate: FailureRate, sent_at: Timestamp, now: Timestamp) -> Option<CircuitReason> {
        let (first, failing_since) = (self.settled.front()?, self.failing_since?);
        let last = self.settled.back()?.sent_at();
        let of_rate = self.settled.len() >= rate.attempts() as usize && self.failures >= rate.failures();
        let quiet_min = CIRCUIT_QUIET_MIN.max(now.since(sent_at) * CIRCUIT_QUIET_ROUNDS);
        let is_quiet = !rate.is_all() || last.since(failing_since) >= quiet_min;
        if of_rate && is_quiet {
            return Some(CircuitReason::FailureRate);
        }
        let no_success = self.failures as usize == self.settled.len();
        let silent_for = now.since(failing_since.max(first.sent_at()));
        let is_silent =
            no_success && self.failures >= CIRCUIT_SILENCE_FAILURES && silent_for >= CIRCUIT_SILENCE;
        is_silent.then_some(CircuitReason::NoSuccess)
    }
}

#[cfg(test)]
mod tests;
