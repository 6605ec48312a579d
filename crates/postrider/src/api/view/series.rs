//! What happened when.

use super::word::Resolution;
use postrider_core::delivery::Priority;
use postrider_store::{LatencyCounts, Ring, SeriesPoint};
use serde::Serialize;
use utoipa::ToSchema;

/// Points of one length, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Series {
    #[schema(value_type = Resolution)]
    resolution: &'static str,
    points: Vec<Point>,
    /// How long deliveries took over all points, from when they were due first, by priority; without replays.
    latency: Vec<PriorityLatency>,
}

/// What happened within a point.
#[derive(Serialize, ToSchema)]
struct Point {
    /// When it begins.
    #[schema(format = DateTime)]
    at: String,
    /// Events accepted.
    accepted: u64,
    /// Events refused for want of room.
    shed: u64,
    /// Attempts that ended.
    attempts: u64,
    /// Deliveries delivered.
    delivered: u64,
    /// Attempts that are followed by another.
    retries: u64,
    /// Deliveries given up on.
    dead_letters: u64,
    /// Deliveries owed at most.
    pending: u64,
    /// What nineteen of twenty deliveries stayed at or below; absent when there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    p95_seconds: Option<f64>,
}

#[derive(Serialize, ToSchema)]
struct PriorityLatency {
    #[schema(minimum = 1, maximum = 4)]
    priority: u8,
    #[schema(inline)]
    latency: Percentiles,
}

/// What so many of a hundred deliveries stayed at or below, estimated; absent when there were none.
#[derive(Serialize, ToSchema)]
pub(crate) struct Percentiles {
    /// Of so many deliveries.
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    p50_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    p95_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    p99_seconds: Option<f64>,
}

impl Percentiles {
    pub(crate) fn of(counts: &LatencyCounts) -> Self {
        Percentiles {
            count: counts.count(),
            p50_seconds: seconds(counts, 0.5),
            p95_seconds: seconds(counts, 0.95),
            p99_seconds: seconds(counts, 0.99),
        }
    }
}

/// To the millisecond.
fn seconds(counts: &LatencyCounts, share: f64) -> Option<f64> {
    counts.quantile(share).map(|ms| ms.round() / 1000.0)
}

impl Series {
    pub(crate) fn of(ring: Ring, points: &[SeriesPoint]) -> Self {
        let of_priority = |priority: Priority| {
            let mut counts = LatencyCounts::default();
            points.iter().for_each(|found| counts.add(&found.moment.latency[priority.index()]));
            PriorityLatency { priority: priority.number(), latency: Percentiles::of(&counts) }
        };
        Series {
            resolution: ring.as_str(),
            points: points.iter().map(Point::of).collect(),
            latency: Priority::ALL.map(of_priority).into(),
        }
    }
}

impl Point {
    fn of(found: &SeriesPoint) -> Self {
        let moment = &found.moment;
        let mut latency = LatencyCounts::default();
        moment.latency.iter().for_each(|counts| latency.add(counts));
        Point {
            at: found.ring.begins_at(found.point).to_string(),
            accepted: moment.accepted,
            shed: moment.shed,
            attempts: moment.attempts,
            delivered: moment.delivered,
            retries: moment.retries,
            dead_letters: moment.dead_letters,
            pending: moment.pending,
            p95_seconds: seconds(&latency, 0.95),
        }
    }
}
