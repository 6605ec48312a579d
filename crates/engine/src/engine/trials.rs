//! One event for one destination, sent at once and kept nowhere: does it work?

use super::Engine;
use crate::send::{IdleMax, Made, Pool, Sender, Timers, build};
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DestinationId, EventId};
use postrider_core::map::IdMap;
use postrider_core::outcome::Outcome;
use postrider_core::time::Timestamp;
use postrider_store::{EventContent, Headers, Origin, Problem, Timing};
use std::sync::{Arc, Mutex, PoisonError};

/// Tests under way at once, over all destinations: they pass by the slots, so they must stay few.
const TRIALS_MAX: usize = 32;
/// Of those, of one account: receivers that hang must not keep other accounts from testing theirs.
const TRIALS_OF_ACCOUNT_MAX: usize = 4;
const _: () = assert!(TRIALS_OF_ACCOUNT_MAX * 4 <= TRIALS_MAX, "a few accounts must not take all");

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
    /// Too many of its account are.
    TooManyOfAccount,
    /// Its receiver has not agreed to be sent events.
    NoConsent,
}

/// Destinations with a test under way, and whose they are.
#[derive(Default)]
pub(super) struct Trials(Mutex<IdMap<DestinationId, AccountId>>);

/// Ends a test when it is dropped, however it went.
pub(super) struct UnderWay<'a>(&'a Trials, DestinationId);

impl TrialReport {
    pub(super) fn of(event: EventId, made: Made) -> Self {
        let Made { started_at, outcome, problem, request_headers, trace, shortage: _ } = made;
        TrialReport {
            event,
            started_at,
            outcome,
            status: trace.status,
            request_headers,
            response_headers: trace.response_headers,
            response_body: trace.response_body.freeze(),
            problem,
            timing: trace.timing,
        }
    }
}

impl Trials {
    pub(super) fn begin(&self, account: AccountId, id: DestinationId) -> Result<UnderWay<'_>, TrialError> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.contains_key(&id) {
            return Err(TrialError::UnderWay);
        }
        if under_way.values().filter(|of| **of == account).count() >= TRIALS_OF_ACCOUNT_MAX {
            return Err(TrialError::TooManyOfAccount);
        }
        if under_way.len() >= TRIALS_MAX {
            return Err(TrialError::TooMany);
        }
        under_way.insert(id, account);
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
        let _under_way = self.trials.begin(account, id)?;
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
            replay_of: None,
        }
    }

    /// For an exchange outside of any line, on a connection of its own.
    pub(super) fn sender(&self) -> Sender {
        let (connector, pool) = (Arc::clone(&self.connector), Pool::new(IdleMax::new(0, 1)));
        let (timers, lease) = (Timers::default(), self.lease.clone());
        let made_bodies = Arc::clone(&self.made_bodies);
        Sender { connector, pool, timers, clock: self.clock, lease, spans: None, made_bodies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_account_takes_the_tests_of_the_others() {
        let trials = Trials::default();
        let begin = |account, id| trials.begin(AccountId::from_u64(account), DestinationId::from_u64(id));
        let mut under_way: Vec<_> = (0..4).map(|id| begin(1, id).ok().unwrap()).collect();
        assert_eq!(begin(1, 0).err(), Some(TrialError::UnderWay));
        assert_eq!(begin(1, 4).err(), Some(TrialError::TooManyOfAccount));
        under_way.pop();
        assert!(begin(1, 4).is_ok(), "one has ended");
        under_way.extend((10..39).map(|id| begin(id, id).ok().unwrap()));
        assert_eq!(begin(2, 39).err(), Some(TrialError::TooMany));
    }
}
