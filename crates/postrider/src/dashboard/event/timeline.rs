//! The deliveries of an event with their attempts, as far as a page has room for them: an event may have ten thousand
//! deliveries, each tried often, and its page stays below 100 kB.

use super::attempt::Attempt;
use super::detail::Detail;
use crate::dashboard::clip::short;
use crate::dashboard::inside::{Inside, segment};
use crate::dashboard::session::Session;
use serde::Deserialize;
use std::collections::HashMap;

const DELIVERIES_MAX: usize = 15;
const ATTEMPTS_MAX: usize = 12;
/// Of all that was sent, and as much of all that was answered.
const TEXTS_BYTES: usize = 12_000;
/// Of one such text.
const TEXT_BYTES_MAX: usize = 1500;
const NAME_BYTES: usize = 100;

pub(in crate::dashboard) struct Timeline {
    /// Those that are shown.
    pub(in crate::dashboard) deliveries: Vec<Delivery>,
    pub(in crate::dashboard) deliveries_left_out: u64,
    attempts: Vec<Attempt>,
    /// Of the deliveries that are shown; one that is deleted is not known any more.
    destinations: HashMap<String, Known>,
}

#[derive(Deserialize)]
pub(in crate::dashboard) struct Delivery {
    pub(in crate::dashboard) id: String,
    pub(in crate::dashboard) destination_id: String,
    /// Of no route is what the gateway itself has to tell.
    pub(super) route_id: Option<String>,
    pub(super) priority: u64,
    pub(in crate::dashboard) status: String,
    pub(in crate::dashboard) attempts_count: u32,
    pub(in crate::dashboard) next_attempt_at: Option<String>,
    pub(in crate::dashboard) waiting_for: Option<String>,
    pub(in crate::dashboard) reason: Option<String>,
}

#[derive(Deserialize)]
struct Known {
    name: String,
    url: String,
}

/// A delivery, of which it is known but for its attempts.
#[derive(Deserialize)]
struct Tried {
    attempts: Vec<Attempt>,
}

impl Timeline {
    /// Takes the deliveries and attempts out of an event.
    pub(in crate::dashboard) async fn of(api: &Inside, session: &Session, detail: &mut Detail) -> Self {
        let deliveries = std::mem::take(&mut detail.event.deliveries);
        let mut attempts = std::mem::take(&mut detail.attempts);
        for delivery in deliveries.iter().take(DELIVERIES_MAX) {
            // An event comes with its last attempts, which may all be of others.
            let is_told = attempts.iter().any(|attempt| attempt.delivery_id == delivery.id);
            if delivery.attempts_count > 0 && !is_told {
                let at = format!("/v1/deliveries/{}", segment(&delivery.id));
                let own = api.get(session, &at).await;
                attempts.extend(own.map_or_else(|_| Vec::new(), |own: Tried| own.attempts));
            }
        }
        let mut timeline = Timeline::new(deliveries, attempts);
        for delivery in &timeline.deliveries {
            let at = format!("/v1/destinations/{}", segment(&delivery.destination_id));
            if let Ok(known) = api.get(session, &at).await {
                timeline.destinations.insert(delivery.destination_id.clone(), known);
            }
        }
        timeline
    }

    fn new(mut deliveries: Vec<Delivery>, mut attempts: Vec<Attempt>) -> Self {
        count_replays(&mut attempts);
        let deliveries_left_out = deliveries.len().saturating_sub(DELIVERIES_MAX) as u64;
        deliveries.truncate(DELIVERIES_MAX);
        Timeline { deliveries, deliveries_left_out, attempts, destinations: HashMap::new() }
    }

    pub(in crate::dashboard) fn name(&self, delivery: &Delivery) -> String {
        let known = self.destinations.get(&delivery.destination_id);
        short(known.map_or(&delivery.destination_id, |known| &known.name), NAME_BYTES)
    }

    /// Where a delivery goes, if its destination is still there.
    pub(super) fn url(&self, delivery: &Delivery) -> Option<&str> {
        self.destinations.get(&delivery.destination_id).map(|known| known.url.as_str())
    }

    /// The last attempts of a delivery; each delivery has its part of the page, and one at least.
    pub(in crate::dashboard) fn of_delivery(&self, delivery: &Delivery) -> Vec<&Attempt> {
        let all: Vec<_> = self.attempts.iter().filter(|attempt| attempt.delivery_id == delivery.id).collect();
        all[all.len().saturating_sub(self.attempts_each())..].to_vec()
    }

    pub(in crate::dashboard) fn attempts_left_out(&self, delivery: &Delivery) -> u64 {
        u64::from(delivery.attempts_count).saturating_sub(self.of_delivery(delivery).len() as u64)
    }

    /// For what was sent or answered in one attempt.
    pub(in crate::dashboard) fn room(&self) -> usize {
        let shown: usize = self.deliveries.iter().map(|delivery| self.of_delivery(delivery).len()).sum();
        (TEXTS_BYTES / shown.max(1)).min(TEXT_BYTES_MAX)
    }

    fn attempts_each(&self) -> usize {
        (ATTEMPTS_MAX / self.deliveries.len().max(1)).max(1)
    }
}

/// A replay begins where a delivery's attempts are counted from the first again.
fn count_replays(attempts: &mut [Attempt]) {
    let mut seen: HashMap<String, (u32, u32)> = HashMap::new();
    for attempt in attempts {
        let (last, replays) = seen.entry(attempt.delivery_id.clone()).or_default();
        *replays += u32::from(attempt.attempt_number <= *last);
        *last = attempt.attempt_number;
        attempt.replays = *replays;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Of an event with so many deliveries, each tried so often.
    fn timeline(deliveries: usize, attempts: u32) -> Timeline {
        let delivery = |n: usize| {
            let delivery = json!({
                "id": format!("dlv_{n}"), "destination_id": "dst_1", "priority": 3, "status": "queued",
                "attempts_count": attempts,
            });
            serde_json::from_value(delivery).unwrap()
        };
        let attempt = |(n, number): (usize, u32)| {
            let attempt = json!({
                "delivery_id": format!("dlv_{n}"), "attempt_number": number, "started_at": "",
                "timing": { "total_ms": 1.0 }, "outcome": "success", "request_headers": {},
            });
            serde_json::from_value(attempt).unwrap()
        };
        let all = (0..deliveries).flat_map(|n| (1..=attempts).map(move |number| (n, number)));
        Timeline::new((0..deliveries).map(delivery).collect(), all.map(attempt).collect())
    }

    #[test]
    fn a_page_has_the_last_attempts_and_says_how_many_it_leaves_out() {
        // Deliveries and attempts of each; those shown of both, left out of both, and the room of a text.
        for (given, expected) in [
            ((0, 0), (0, 0, 0, 0, 1500)),
            ((1, 3), (1, 3, 0, 0, 1500)),
            ((1, 30), (1, 12, 0, 18, 1000)),
            ((3, 10), (3, 4, 0, 6, 1000)),
            ((15, 10), (15, 1, 0, 9, 800)),
            ((20, 10), (15, 1, 5, 9, 800)),
        ] {
            let timeline = timeline(given.0, given.1);
            let first = timeline.deliveries.first();
            let attempts = first.map_or(0, |first| timeline.of_delivery(first).len());
            let left_out = first.map_or(0, |first| timeline.attempts_left_out(first));
            let seen = (
                timeline.deliveries.len(),
                attempts,
                timeline.deliveries_left_out,
                left_out,
                timeline.room(),
            );
            assert_eq!(seen, expected, "{given:?}");
            let last =
                first.and_then(|first| timeline.of_delivery(first).last().map(|last| last.attempt_number));
            assert_eq!(last.unwrap_or(0), given.1);
        }
    }
}
