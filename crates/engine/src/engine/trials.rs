//! One event for one destination, sent at once and kept nowhere: does it work?

use super::Engine;
use crate::send::{Made, Pool, Sender, build};
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DestinationId, EventId};
use postrider_core::map::IdSet;
use postrider_core::outcome::Outcome;
use postrider_core::time::Timestamp;
use postrider_store::{EventContent, Headers, Origin, Problem, Timing};
use std::sync::{Arc, Mutex, PoisonError};

/// Tests under way at once, over all destinations: they pass by the slots, so they must stay few.
const TRIALS_MAX: usize = 16;

/// What to send.
pub struct Trial {
    /// Told in `x-event-type`, as a sender would.
    pub event_type: EventType,
    /// The body.
    pub body: Bytes,
    /// What the body is.
    pub content_type: &'static str,
}

/// How it went.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// The id that the receiver saw. Of a test there is no such event.
    pub event: EventId,
    /// When it began.
    pub started_at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// The status, once a response head arrived.
    pub status: Option<u16>,
    /// What was sent, secrets redacted.
    pub request_headers: Headers,
    /// What came back.
    pub response_headers: Headers,
    /// What came back, at most as much as the limit says.
    pub response_body: Bytes,
    /// What was wrong, when something was.
    pub problem: Option<Problem>,
    /// How long each part took.
    pub timing: Timing,
}

/// Why no test was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialError {
    /// There is no such destination.
    Unknown,
    /// One is under way for it.
    UnderWay,
    /// Too many are under way.
    TooMany,
    /// Its receiver has not agreed to be sent events.
    NoConsent,
}

/// Destinations with a test under way.
#[derive(Default)]
pub(super) struct Trials(Mutex<IdSet<DestinationId>>);

/// Ends a test when it is dropped, however it went.
pub(super) struct UnderWay<'a>(&'a Trials, DestinationId);

impl TrialReport {
    pub(super) fn of(event: EventId, made: Made) -> Self {
        let Made { started_at, outcome, problem, request_headers, trace } = made;
        TrialReport {
            event,
            started_at,
            outcome,
            status: trace.status,
            request_headers,
            response_headers: trace.response_headers,
            response_body: trace.response_body,
            problem,
            timing: trace.timing,
        }
    }
}

impl Trials {
    pub(super) fn begin(&self, id: DestinationId) -> Result<UnderWay<'_>, TrialError> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.contains(&id) {
            return Err(TrialError::UnderWay);
        }
        if under_way.len() >= TRIALS_MAX {
            return Err(TrialError::TooMany);
        }
        under_way.insert(id);
        Ok(UnderWay(self, id))
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

impl Engine {
    /// Sends one signed event to a destination, beside its line: also when it is paused or its circuit is open.
    pub async fn try_out(
        &self,
        account: AccountId,
        id: DestinationId,
        trial: Trial,
    ) -> Result<TrialReport, TrialError> {
        let (destination, target) = {
            let catalog = self.catalog();
            let found = catalog.destination(account, id).cloned().zip(catalog.target(id));
            found.ok_or(TrialError::Unknown)?
        };
        if destination.handshake.is_missing() {
            return Err(TrialError::NoConsent);
        }
        let _under_way = self.trials.begin(id)?;
        let event = EventId::from_u64(self.next_id());
        let content = self.content_of(account, trial);
        let request = |ready: &_, (): &()| build(ready, &content, event, 1, self.clock);
        Ok(TrialReport::of(event, self.sender().make(&target, || Ok(()), request).await))
    }

    fn content_of(&self, account: AccountId, trial: Trial) -> EventContent {
        let event_type = trial.event_type.as_str();
        EventContent {
            account,
            origin: Origin::Api(None),
            headers: [("content-type", trial.content_type), ("x-event-type", event_type)]
                .into_iter()
                .collect(),
            body: trial.body,
            received_at: self.clock.now(),
            event_type: Some(trial.event_type),
            window: Default::default(),
        }
    }

    /// For an exchange outside of any line, on a connection of its own.
    pub(super) fn sender(&self) -> Sender {
        let (connector, pool) = (Arc::clone(&self.connector), Pool::default());
        Sender { connector, pool, clock: self.clock, spans: None }
    }
}
