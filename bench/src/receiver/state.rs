//! All that the receiver remembers, and how a request changes it.

use super::behaviour::{Behaviour, Circumstances, Reply};
use super::chaos::Third;
use super::in_flight::InFlight;
use super::ledger::Ledger;
use super::outage::Outage;
use super::question::Question;
use super::tally::{Arrival, Kind, ReceiverReport, Tally};
use crate::event::{Stamp, unix_now_ns};
use hyper::StatusCode;
use std::sync::{Arc, Mutex, MutexGuard};

pub(super) type SharedState = Arc<Mutex<State>>;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tally: Tally,
    pub(super) in_flight: InFlight,
    pub(super) ledger: Ledger,
    pub(super) outage: Outage,
}

/// Counts a request as present until its answer is on the way or its sender has left.
#[derive(Debug)]
pub(super) struct Present<'a> {
    state: &'a SharedState,
    path: &'a str,
}

impl State {
    /// Decides what a request gets, and keeps it.
    pub(super) fn arrive(&mut self, behaviour: Behaviour, path: &str, event: &str, body: &[u8]) -> Reply {
        let now_ns = unix_now_ns();
        let third = match behaviour {
            Behaviour::Chaos { .. } => Third::of(path, event, self.ledger.attempt(path, event)),
            _ => Third::Fine,
        };
        // Only a path that the outage is about uses up its answers.
        let failing = matches!(behaviour, Behaviour::Failing { .. }) && self.outage.strikes();
        let reply = behaviour.reply(Circumstances { unix_ms: now_ns / 1_000_000, failing, third });
        let kind = kind(reply);
        if kind == Kind::Received && matches!(behaviour, Behaviour::Chaos { .. }) {
            self.ledger.delivered(path, event);
        }
        self.tally.record(Arrival { path, stamp: Stamp::read(body), kind }, now_ns);
        reply
    }

    pub(super) fn report(&self, question: &Question) -> ReceiverReport {
        let in_flight_max = self.in_flight.max_under(&question.under);
        ReceiverReport { in_flight_max, ..self.tally.report(question) }
    }

    /// An outage goes on.
    pub(super) fn clear(&mut self) {
        self.tally.clear();
        self.ledger.clear();
        self.in_flight.clear();
    }
}

impl<'a> Present<'a> {
    pub(super) fn enter(state: &'a SharedState, path: &'a str) -> Present<'a> {
        lock(state).in_flight.enter(path);
        Present { state, path }
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        lock(self.state).in_flight.leave(self.path);
    }
}

pub(super) fn lock(state: &SharedState) -> MutexGuard<'_, State> {
    state.lock().expect("nothing panics while it holds the state")
}

fn kind(reply: Reply) -> Kind {
    match reply {
        Reply::Answer { status: StatusCode::OK, .. } => Kind::Received,
        Reply::Answer { .. } => Kind::Rejected,
        Reply::Late(_) | Reply::Never => Kind::Withheld,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_outage_rejects_until_it_ends_and_outlives_a_reset() {
        let mut state = State::default();
        let failing = Behaviour::Failing { after: Duration::ZERO };
        let status = |state: &mut State| kind(state.arrive(failing, "/failing/0/a", "evt_1", b"{}"));
        assert_eq!(status(&mut state), Kind::Received);
        state.outage.begin();
        state.clear();
        assert_eq!(status(&mut state), Kind::Rejected);
        state.outage.end();
        assert_eq!(status(&mut state), Kind::Received);
        let all = state.report(&Question::under("/failing/")).all;
        assert_eq!((all.count, all.rejected), (1, 1));
    }

    #[test]
    fn chaos_is_kept_by_event_and_ends_each_of_them() {
        let mut state = State::default();
        let chaos = Behaviour::Chaos { stall: Duration::from_secs(6) };
        for event in 0..50 {
            for _ in 0..4 {
                state.arrive(chaos, "/chaos/6000/a", &format!("evt_{event}"), b"");
            }
        }
        let report = state.ledger.report(4);
        assert_eq!((report.events, report.attempts, report.ended()), (50, 200, 50));
        assert!(report.delivered > 20, "four draws of a third each: {report:?}");
    }

    #[test]
    fn a_request_is_present_until_it_is_dropped() {
        let state = SharedState::default();
        let (first, second) = (Present::enter(&state, "/a"), Present::enter(&state, "/a"));
        drop((first, second));
        let _third = Present::enter(&state, "/a");
        assert_eq!(lock(&state).report(&Question::default()).in_flight_max, 2);
    }
}
