//! Writes down what happens, second by second, in the rings of the store. It is what the meters have counted since the
//! last look, so nothing more is counted for it.

use crate::admission::Admission;
use crate::clock::Clock;
use crate::meters::{Counter, Meters};
use postrider_store::{LatencyCounts, Moment, Ring, SeriesPoint, Store};
use std::sync::Arc;
use std::time::Duration;

/// The finest ring has a point for each.
const LOOK: Duration = Duration::from_secs(1);

/// Notes what happens until the engine is gone.
pub(crate) async fn keep_series(
    store: Arc<dyn Store>,
    meters: Arc<Meters>,
    admission: Arc<Admission>,
    clock: Clock,
) {
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut before = counted(&meters);
    let mut coarse =
        [Ring::Minutes, Ring::Hours].map(|ring| SeriesPoint { ring, point: 0, moment: Moment::default() });
    loop {
        look.tick().await;
        let (now, after) = (clock.now(), counted(&meters));
        let moment = Moment { pending: admission.pending(), ..since(&before, &after) };
        before = after;
        if moment == Moment::default() {
            continue;
        }
        let mut points =
            vec![SeriesPoint { ring: Ring::Seconds, point: Ring::Seconds.point_at(now), moment }];
        for known in &mut coarse {
            let point = known.ring.point_at(now);
            if known.point != point {
                // A run before this one may have noted some of it.
                let noted = store.own_point(known.ring, point).await.ok().flatten().unwrap_or_default();
                *known = SeriesPoint { ring: known.ring, point, moment: noted };
            }
            known.moment.then(&points[0].moment);
            points.push(known.clone());
        }
        if let Err(error) = store.keep_series(points).await {
            tracing::debug!(%error, "failed to store figures for the charts");
        }
    }
}

/// What was counted since the start.
fn counted(meters: &Meters) -> Moment {
    let sum = |counters: &[Counter]| counters.iter().map(Counter::get).sum();
    Moment {
        accepted: meters.accepted.get(),
        shed: meters.shed.total(),
        attempts: sum(&meters.attempts),
        delivered: sum(&meters.delivered),
        retries: meters.retries.get(),
        dead_letters: sum(&meters.dead_letters),
        pending: 0,
        latency: std::array::from_fn(|index| LatencyCounts(meters.delivery_latency[index].counts())),
    }
}

/// What came between two countings.
fn since(before: &Moment, after: &Moment) -> Moment {
    let latency = |priority: usize| {
        let (before, after) = (before.latency[priority].0, after.latency[priority].0);
        LatencyCounts(std::array::from_fn(|index| after[index] - before[index]))
    };
    Moment {
        accepted: after.accepted - before.accepted,
        shed: after.shed - before.shed,
        attempts: after.attempts - before.attempts,
        delivered: after.delivered - before.delivered,
        retries: after.retries - before.retries,
        dead_letters: after.dead_letters - before.dead_letters,
        pending: 0,
        latency: std::array::from_fn(latency),
    }
}
