//! The last hour, minute by minute: what came in, what went out, what waited, and how long deliveries took.

use crate::dashboard::chart::{Chart, Value};
use crate::dashboard::show;
use crate::doctor::SHED_MINUTES;
use postrider_core::time::Timestamp;
use serde::Deserialize;
use std::collections::HashMap;

const MINUTES: u64 = 60;
const MINUTE_MS: u64 = 60_000;
/// Seconds that "now" is a mean of.
const NOW_SECONDS: u64 = 10;

/// What `/v1/stats/series` answers.
#[derive(Deserialize)]
pub(super) struct Series {
    points: Vec<Point>,
    latency: Vec<PriorityLatency>,
}

#[derive(Clone, Default, Deserialize)]
pub(super) struct Point {
    at: String,
    pub(super) accepted: u64,
    shed: u64,
    pub(super) attempts: u64,
    pub(super) delivered: u64,
    pub(super) dead_letters: u64,
    pub(super) pending: u64,
    p95_seconds: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct PriorityLatency {
    pub(super) priority: u8,
    pub(super) latency: Percentiles,
}

#[derive(Deserialize)]
pub(super) struct Percentiles {
    pub(super) count: u64,
    pub(super) p50_seconds: Option<f64>,
    pub(super) p95_seconds: Option<f64>,
    pub(super) p99_seconds: Option<f64>,
}

/// What the page shows of it.
pub(super) struct Traffic {
    pub(super) charts: Vec<Chart>,
    /// Oldest first; every minute is there.
    pub(super) minutes: Vec<Point>,
    /// Over the last six hours.
    pub(super) latency: Vec<PriorityLatency>,
    /// Events and deliveries a second, over the last seconds.
    pub(super) now_in: f64,
    pub(super) now_out: f64,
}

impl Traffic {
    pub(super) fn of(by_minute: Series, by_second: &Series, now: Timestamp) -> Self {
        let minutes = hour(by_minute.points, now);
        let since = Timestamp::from_unix_ms(now.unix_ms().saturating_sub(NOW_SECONDS * 1000)).to_string();
        let last: Vec<&Point> = by_second.points.iter().filter(|point| point.at >= since).collect();
        let rate = |count: fn(&Point) -> u64| {
            last.iter().map(|point| count(point)).sum::<u64>() as f64 / NOW_SECONDS as f64
        };
        Traffic {
            charts: charts(&minutes),
            latency: by_minute.latency,
            now_in: rate(|point| point.accepted),
            now_out: rate(|point| point.delivered),
            minutes,
        }
    }

    /// Events refused in the last minutes.
    pub(super) fn shed_lately(&self) -> u64 {
        let minutes = usize::try_from(SHED_MINUTES).unwrap_or(usize::MAX);
        self.minutes.iter().rev().take(minutes).map(|point| point.shed).sum()
    }

    /// Of a hundred attempts of the hour, how many delivered.
    pub(super) fn success(&self) -> Option<f64> {
        let sum = |count: fn(&Point) -> u64| self.minutes.iter().map(count).sum::<u64>();
        let attempts = sum(|point| point.attempts);
        (attempts > 0).then(|| sum(|point| point.delivered) as f64 * 100.0 / attempts as f64)
    }
}

impl Point {
    /// The time of day.
    pub(super) fn clock(&self) -> &str {
        self.at.get(11..16).unwrap_or(&self.at)
    }

    pub(super) fn failed(&self) -> u64 {
        self.attempts.saturating_sub(self.delivered)
    }

    pub(super) fn p95(&self) -> String {
        self.p95_seconds.map_or_else(|| "–".to_owned(), |seconds| show::latency(&seconds))
    }
}

/// Every minute of the last hour; those in which nothing happened are not told.
fn hour(points: Vec<Point>, now: Timestamp) -> Vec<Point> {
    let minute = |at: &str| at.get(..16).unwrap_or(at).to_owned();
    let mut known: HashMap<String, Point> =
        points.into_iter().map(|point| (minute(&point.at), point)).collect();
    let at = |ago: u64| Timestamp::from_unix_ms(now.unix_ms().saturating_sub(ago * MINUTE_MS)).to_string();
    let point = |at: String| known.remove(&minute(&at)).unwrap_or(Point { at, ..Point::default() });
    (0..MINUTES).rev().map(at).map(point).collect()
}

fn charts(minutes: &[Point]) -> Vec<Chart> {
    let a_minute = |most: u64| format!("peak {} per minute", show::count(&most));
    let draw = |label, most: &dyn Fn(u64) -> String, value: fn(&Point) -> (u64, u64, String)| {
        let values: Vec<Value> = minutes
            .iter()
            .map(|point| {
                let (good, bad, words) = value(point);
                let title = format!("{}: {words}", point.clock());
                Value { at: point.clock().to_owned(), parts: vec![("", good), ("bad", bad)], title }
            })
            .collect();
        Chart::new(label, &values, most)
    };
    vec![
        draw("Events in", &a_minute, |point| {
            (point.accepted, 0, format!("{} events", show::count(&point.accepted)))
        }),
        draw("Attempts: delivered, with failed on top", &a_minute, |point| {
            let failed = point.failed();
            let words =
                format!("{} delivered, {} failed", show::count(&point.delivered), show::count(&failed));
            (point.delivered, failed, words)
        }),
        draw("Pending deliveries", &|most| format!("peak {}", show::count(&most)), |point| {
            (point.pending, 0, format!("{} pending", show::count(&point.pending)))
        }),
        draw(
            "Delivery latency (p95)",
            &|most| format!("peak {}", show::latency(&(most as f64 / 1000.0))),
            |point| {
                let ms = (point.p95_seconds.unwrap_or(0.0) * 1000.0).round() as u64;
                (ms, 0, point.p95())
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: &str, accepted: u64) -> Point {
        Point { at: at.to_owned(), accepted, attempts: 4, delivered: 3, ..Point::default() }
    }

    #[test]
    fn an_hour_has_all_its_minutes() {
        let now = Timestamp::parse_rfc3339("2026-01-31T00:10:30Z").unwrap();
        let points = vec![
            point("2026-01-30T20:00:00.000Z", 1),
            point("2026-01-30T23:12:00.000Z", 2),
            point("2026-01-31T00:10:00.000Z", 3),
        ];
        let minutes = hour(points, now);
        let seen: Vec<_> = minutes.iter().map(|point| (point.clock(), point.accepted)).collect();
        assert_eq!(seen.len(), 60);
        assert_eq!((seen[0], seen[1], seen[59]), (("23:11", 0), ("23:12", 2), ("00:10", 3)));
    }

    #[test]
    fn rates_are_of_the_last_seconds() {
        let now = Timestamp::parse_rfc3339("2026-01-31T00:10:30Z").unwrap();
        let by_second = Series {
            points: vec![point("2026-01-31T00:09:00.000Z", 500), point("2026-01-31T00:10:25.000Z", 50)],
            latency: Vec::new(),
        };
        let by_minute = Series { points: vec![point("2026-01-31T00:10:00.000Z", 50)], latency: Vec::new() };
        let traffic = Traffic::of(by_minute, &by_second, now);
        assert_eq!((traffic.now_in, traffic.now_out, traffic.success()), (5.0, 0.3, Some(75.0)));
    }
}
