//! What became of the events, and the load's report of it.

use super::connection::Told;
use crate::latency::Latency;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a load prints. `sent` = `accepted` + `failed` + `dropped`; `refused` counts answers, of which an event may
/// get many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoadReport {
    pub(crate) sent: u64,
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    pub(crate) failed: u64,
    /// Events that were refused and not sent again.
    pub(crate) dropped: u64,
    pub(crate) seconds: f64,
    /// From the event's time to the answer that accepted it.
    pub(crate) p50_us: u64,
    pub(crate) p99_us: u64,
    /// From a request to the answer that refused it.
    pub(crate) refusal_p50_us: u64,
    pub(crate) refusal_p99_us: u64,
    /// Refusals without `Retry-After`, or without a `code` in the body.
    pub(crate) refusals_unexplained: u64,
    /// The time of the first event.
    pub(crate) first_sent_ns: Option<u64>,
    /// Why the first event failed that did.
    pub(crate) first_failure: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Outcome {
    sent: u64,
    accepted: u64,
    refused: u64,
    failed: u64,
    dropped: u64,
    answers: Latency,
    refusals: Latency,
    refusals_unexplained: u64,
    first_sent_ns: Option<u64>,
    first_failure: Option<String>,
}

impl Outcome {
    pub(crate) fn new() -> Outcome {
        Outcome {
            sent: 0,
            accepted: 0,
            refused: 0,
            failed: 0,
            dropped: 0,
            answers: Latency::new(),
            refusals: Latency::new(),
            refusals_unexplained: 0,
            first_sent_ns: None,
            first_failure: None,
        }
    }

    pub(crate) fn note_sent(&mut self, sent_ns: u64) {
        self.sent += 1;
        self.first_sent_ns = Some(self.first_sent_ns.map_or(sent_ns, |first| first.min(sent_ns)));
    }

    pub(crate) fn note_accepted(&mut self, answer_ns: u64) {
        self.accepted += 1;
        self.answers.record_ns(answer_ns);
    }

    pub(crate) fn note_refused(&mut self, answer_ns: u64, told: Told) {
        self.refused += 1;
        self.refusals.record_ns(answer_ns);
        self.refusals_unexplained += u64::from(told == Told::TooLittle);
    }

    pub(crate) fn note_dropped(&mut self) {
        self.dropped += 1;
    }

    pub(crate) fn note_failed(&mut self, why: &str) {
        self.failed += 1;
        self.first_failure.get_or_insert_with(|| why.to_owned());
    }

    /// For the progress line.
    pub(crate) fn summary(&self, events: u64) -> String {
        format!(
            "{} of {events} events accepted, {} refusals, {} failed",
            self.accepted, self.refused, self.failed
        )
    }

    pub(crate) fn report(&self, elapsed: Duration) -> LoadReport {
        let ended = self.accepted + self.failed + self.dropped;
        assert_eq!(self.sent, ended, "an event was lost in the load itself");
        LoadReport {
            sent: self.sent,
            accepted: self.accepted,
            refused: self.refused,
            failed: self.failed,
            dropped: self.dropped,
            seconds: elapsed.as_secs_f64(),
            p50_us: self.answers.p50_us(),
            p99_us: self.answers.p99_us(),
            refusal_p50_us: self.refusals.p50_us(),
            refusal_p99_us: self.refusals.p99_us(),
            refusals_unexplained: self.refusals_unexplained,
            first_sent_ns: self.first_sent_ns,
            first_failure: self.first_failure.clone(),
        }
    }
}
