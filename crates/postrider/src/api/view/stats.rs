//! What was counted.

use super::Percentiles;
use super::word::EventStatus as EventWord;
use postrider_core::time::Timestamp;
use postrider_engine::Standing;
use postrider_store::{Counts, Destination, LatencyCounts};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Days that are shown.
const DAYS: u64 = 30;
/// Destinations whose latency is shown.
const DESTINATIONS_MAX: usize = 100;

/// An account's figures.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Deliveries by where they stand; `accepted` counts events that no route took.
    by_status: Vec<StatusCount>,
    #[schema(inline)]
    totals: Totals,
    /// The last 30 days, today last.
    daily: Vec<DayCount>,
    /// How long deliveries took since the gateway started, by destination: the hundred with most deliveries, without
    /// replays, from when they were due first.
    latency: Vec<DestinationLatency>,
}

#[derive(Serialize, ToSchema)]
struct DestinationLatency {
    destination_id: String,
    name: String,
    #[schema(inline)]
    latency: Percentiles,
}

#[derive(Serialize, ToSchema)]
struct StatusCount {
    #[schema(value_type = EventWord)]
    status: &'static str,
    count: i64,
}

/// The same in three figures.
#[derive(Serialize, ToSchema)]
struct Totals {
    /// The sum of `by_status`.
    total: i64,
    /// Deliveries that were delivered.
    delivered: i64,
    /// Deliveries that are dead letters.
    failed: i64,
}

/// What happened on a day, by UTC.
#[derive(Serialize, ToSchema)]
struct DayCount {
    #[schema(example = "2026-01-31")]
    date: String,
    /// Events that came in by a source.
    inbound: i64,
    /// Events that were sent through the API.
    outbound: i64,
    /// Deliveries that were delivered.
    delivered: i64,
    /// Deliveries that were given up on.
    failed: i64,
    /// Events that no route took.
    unrouted: i64,
}

/// The gateway's figures, or an account's, since the beginning.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlatformStats {
    /// Events that were accepted.
    events_processed: i64,
    /// Deliveries that were delivered.
    events_delivered: i64,
    delivery_attempts: i64,
    /// Of a hundred attempts, how many delivered; 0 before the first.
    #[schema(minimum = 0, maximum = 100)]
    success_rate_pct: f64,
}

impl Stats {
    pub(crate) fn of(standing: &Standing, today: u64, latency: &[(Arc<Destination>, LatencyCounts)]) -> Self {
        let total = &standing.stats.total;
        let by_status = [
            ("accepted", total.unrouted),
            ("queued", total.queued - standing.delivering_first),
            ("delivering", standing.delivering_first + standing.delivering_again),
            ("retry_scheduled", total.retry_scheduled - standing.delivering_again),
            ("delivered", total.delivered),
            ("dead_letter", total.dead),
        ];
        // What is in flight is asked after the counts: it may be ahead of them.
        let by_status: Vec<StatusCount> =
            by_status.map(|(status, count)| StatusCount { status, count: count.max(0) }).into();
        let totals = Totals {
            total: by_status.iter().map(|one| one.count).sum(),
            delivered: total.delivered.max(0),
            failed: total.dead.max(0),
        };
        let first = today.saturating_sub(DAYS - 1);
        let counts =
            |day| standing.stats.daily.iter().find(|(known, _)| *known == day).map(|(_, counts)| *counts);
        let daily = (first..=today).map(|day| DayCount::of(day, counts(day).unwrap_or_default())).collect();
        let latency = latency.iter().take(DESTINATIONS_MAX).map(|(found, counts)| DestinationLatency {
            destination_id: found.id.to_string(),
            name: found.name.clone(),
            latency: Percentiles::of(counts),
        });
        Stats { by_status, totals, daily, latency: latency.collect() }
    }
}

impl DayCount {
    fn of(day: u64, counts: Counts) -> Self {
        let Counts { inbound, outbound, delivered, failed, unrouted, .. } = counts;
        let date = Timestamp::from_day(day).to_string().chars().take(10).collect();
        DayCount { date, inbound, outbound, delivered, failed, unrouted }
    }
}

impl PlatformStats {
    pub(crate) fn of(counts: &Counts) -> Self {
        let rate = match counts.attempts {
            0 => 0.0,
            attempts => counts.delivered as f64 * 100.0 / attempts as f64,
        };
        PlatformStats {
            events_processed: counts.inbound + counts.outbound,
            events_delivered: counts.delivered,
            delivery_attempts: counts.attempts,
            success_rate_pct: (rate * 100.0).round() / 100.0,
        }
    }
}
