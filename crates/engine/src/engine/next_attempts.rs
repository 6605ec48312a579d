//! When the next attempt of a delivery is made, as far as it is known, and why not before. A store knows when it was due;
//! what holds its destination, and until when, is known to whoever sends.

use super::Engine;
use postrider_core::scheduler::{DestinationView, Why};
use postrider_core::time::Timestamp;
use postrider_store::{DeliveryState, EventDetail, StoreError};
use std::collections::BTreeSet;

impl Engine {
    /// Lays over these deliveries when they are attempted next. Destinations are looked at only for those that would be
    /// attempted now.
    pub(super) async fn lay_over_next_attempts(&self, events: &mut [EventDetail]) -> Result<(), StoreError> {
        let waiting = events.iter_mut().flat_map(|event| event.deliveries.iter_mut());
        self.lay_over_each(waiting.filter(|state| state.next_attempt_at.is_some()).collect()).await?;
        // Last, since time passes while the owners of destinations are asked.
        let now = self.clock.now();
        for left_out in events.iter_mut().map(|event| &mut event.left_out) {
            left_out.next_attempt_at = left_out.next_attempt_at.filter(|at| *at > now);
        }
        Ok(())
    }

    /// The same of single deliveries that have a next attempt.
    pub(super) async fn lay_over_each(&self, states: Vec<&mut DeliveryState>) -> Result<(), StoreError> {
        let destinations: BTreeSet<_> = states.iter().map(|state| state.destination).collect();
        if destinations.is_empty() {
            return Ok(());
        }
        let activity = self.activity_of(destinations.into_iter().collect()).await?;
        let now = self.clock.now();
        for state in states {
            lay_over(state, activity.destinations.get(&state.destination), now);
        }
        Ok(())
    }
}

/// What holds all of a destination holds this one, and nothing is attempted in the past.
fn lay_over(state: &mut DeliveryState, seen: Option<&DestinationView>, now: Timestamp) {
    let Some(due) = state.next_attempt_at else { return };
    let held = seen.filter(|seen| !matches!(seen.why, Why::Nothing | Why::NotDue));
    if let Some(endless) = held.filter(|seen| seen.is_held_for_good()) {
        (state.next_attempt_at, state.waiting_for) = (None, Some(endless.why));
        return;
    }
    let next = held.and_then(|seen| seen.until).map_or(due, |until| due.max(until));
    state.next_attempt_at = Some(next).filter(|next| *next > now);
    // One that is due later than its destination is held waits for nothing but its time.
    state.waiting_for = held.filter(|_| due <= now || next > due).map(|seen| seen.why);
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::breaker::Circuit;
    use postrider_core::delivery::{DeliveryStatus, Priority};
    use postrider_core::id::{DeliveryId, DestinationId, RouteId};
    use postrider_core::scheduler::{Depth, LimitReason};

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_ms(NOW.unix_ms().saturating_add_signed(seconds * 1000))
    }

    #[test]
    fn the_next_attempt_is_never_in_the_past_and_says_what_holds_it() {
        for (due, why, until, next, waiting_for) in [
            (-60, Why::Circuit, Some(30), Some(30), Some(Why::Circuit)),
            (10, Why::Circuit, Some(30), Some(30), Some(Why::Circuit)),
            (90, Why::Circuit, Some(30), Some(90), None),
            (-60, Why::Circuit, None, None, Some(Why::Circuit)),
            (10, Why::Circuit, None, None, Some(Why::Circuit)),
            (10, Why::Paused, None, None, Some(Why::Paused)),
            (-60, Why::Full, None, None, Some(Why::Full)),
            (10, Why::Full, None, Some(10), None),
            (-60, Why::Nothing, None, None, None),
            (-60, Why::NotDue, Some(5), None, None),
            (10, Why::NotDue, Some(5), Some(10), None),
        ] {
            let mut state = DeliveryState {
                id: DeliveryId::from_u64(1),
                destination: DestinationId::from_u64(2),
                route: RouteId::from_u64(3),
                priority: Priority::from_number(3).unwrap(),
                status: DeliveryStatus::RetryScheduled,
                attempts: 1,
                next_attempt_at: Some(at(due)),
                waiting_for: None,
                reason: None,
            };
            let seen = DestinationView {
                opened_at: None,
                circuit_reason: None,
                next_probe_at: None,
                in_flight: 0,
                pending: Depth::default(),
                limit: 5,
                limit_reason: LimitReason::Configured,
                circuit: Circuit::Closed,
                consecutive_failures: 0,
                blocked_keys: 0,
                why,
                until: until.map(at),
            };
            lay_over(&mut state, Some(&seen), NOW);
            assert_eq!(
                (state.next_attempt_at, state.waiting_for),
                (next.map(at), waiting_for),
                "{due} {why:?}"
            );
        }
    }
}
