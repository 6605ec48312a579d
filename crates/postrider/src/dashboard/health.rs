//! How attempts went at a destination or at all of an account, as the pages draw it.

use super::chart::{Chart, Part, Spark, Value};
use super::inside::{Inside, path};
use super::session::Session;
use super::show;
use postrider_core::time::Timestamp;
use serde::Deserialize;
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

const MINUTES: u64 = 60;
const MINUTE_MS: u64 = 60_000;

/// What `/v1/stats/destinations` answers of one.
#[derive(Default, Deserialize)]
pub(super) struct Health {
    destination_id: String,
    minutes: Vec<Minute>,
    pub(super) errors: Vec<ErrorCount>,
}

#[derive(Clone, Default, Deserialize)]
pub(super) struct Minute {
    at: String,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) slowest_ms: u64,
    /// Of one destination; what is of several cannot be told from theirs.
    pub(super) p50_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct ErrorCount {
    pub(super) error_kind: String,
    pub(super) count: u64,
}

/// By destination; those that nothing was sent to are left out, and so are all when it cannot be told.
pub(super) async fn ask(
    api: &Inside,
    session: &Session,
    ids: impl Iterator<Item = &String>,
) -> HashMap<String, Health> {
    let ids: Vec<&str> = ids.map(String::as_str).collect();
    if ids.is_empty() {
        return HashMap::new();
    }
    let asked = path("/v1/stats/destinations", &[("destination_id", Some(&ids.join(",")))]);
    let told: Vec<Health> = api.get(session, &asked).await.unwrap_or_default();
    told.into_iter().map(|health| (health.destination_id.clone(), health)).collect()
}

/// Of all destinations of the account together, as far as they are told: those that most was sent to.
pub(super) async fn of_account(api: &Inside, session: &Session) -> Health {
    let told: Vec<Health> = api.get(session, "/v1/stats/destinations").await.unwrap_or_default();
    Health::together(told)
}

impl Health {
    /// Minute by minute. What attempts ran into stays with their destinations.
    fn together(all: Vec<Health>) -> Self {
        let mut minutes: HashMap<String, Minute> = HashMap::new();
        for Minute { at, succeeded, failed, slowest_ms, .. } in
            all.into_iter().flat_map(|health| health.minutes)
        {
            let sum = minutes.entry(at.clone()).or_insert(Minute { at, ..Minute::default() });
            sum.succeeded += succeeded;
            sum.failed += failed;
            sum.slowest_ms = sum.slowest_ms.max(slowest_ms);
        }
        Health { minutes: minutes.into_values().collect(), ..Health::default() }
    }

    /// Of a hundred attempts of the hour, how many delivered.
    pub(super) fn success(&self) -> Option<f64> {
        let hour = self.hour();
        let sum = |count: fn(&Minute) -> u64| hour.iter().map(count).sum::<u64>();
        let (succeeded, failed) = (sum(|minute| minute.succeeded), sum(|minute| minute.failed));
        (succeeded + failed > 0).then(|| succeeded as f64 * 100.0 / (succeeded + failed) as f64)
    }

    /// Every minute of the last hour; those in which nothing ended are not told.
    pub(super) fn hour(&self) -> Vec<Minute> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        self.hour_before(now)
    }

    fn hour_before(&self, now_ms: u64) -> Vec<Minute> {
        let minute = |at: &str| at.get(..16).unwrap_or(at).to_owned();
        let mut known: HashMap<String, &Minute> =
            self.minutes.iter().map(|found| (minute(&found.at), found)).collect();
        let at = |ago: u64| Timestamp::from_unix_ms(now_ms.saturating_sub(ago * MINUTE_MS)).to_string();
        let found =
            |at: String| known.remove(&minute(&at)).cloned().unwrap_or(Minute { at, ..Minute::default() });
        (0..MINUTES).rev().map(at).map(found).collect()
    }

    pub(super) fn spark(&self) -> Spark {
        let hour = self.hour();
        let sum = |count: fn(&Minute) -> u64| hour.iter().map(count).sum::<u64>();
        let (succeeded, failed) = (sum(|minute| minute.succeeded), sum(|minute| minute.failed));
        let title =
            format!("Last hour: {} delivered, {} failed", show::count(&succeeded), show::count(&failed));
        let values: Vec<_> = hour.iter().map(|minute| (minute.succeeded, minute.failed)).collect();
        Spark::new(title, &values)
    }

    /// Whether it is known what half of the attempts and 95 of a hundred took.
    pub(super) fn has_percentiles(&self) -> bool {
        self.minutes.iter().any(|minute| minute.p50_ms.is_some())
    }

    pub(super) fn charts(&self) -> Vec<Chart> {
        let hour = self.hour();
        let draw = |part: fn(&Minute) -> (Vec<Part>, String)| -> Vec<Value> {
            let of = |minute: &Minute| {
                let (parts, words) = part(minute);
                let title = format!("{}: {words}", minute.clock());
                Value { at: minute.clock().to_owned(), parts, title }
            };
            hour.iter().map(of).collect()
        };
        let times =
            if self.has_percentiles() { "Attempt duration: p50, p95, slowest" } else { "Slowest attempt" };
        vec![
            Chart::new("Attempts: delivered, with failed on top", &draw(Minute::outcomes), |most| {
                format!("peak {} per minute", show::count(&most))
            }),
            Chart::new(times, &draw(Minute::times), |most| {
                format!("peak {}", show::latency(&(most as f64 / 1000.0)))
            }),
        ]
    }
}

impl Minute {
    /// The time of day.
    pub(super) fn clock(&self) -> &str {
        self.at.get(11..16).unwrap_or(&self.at)
    }

    fn outcomes(&self) -> (Vec<Part>, String) {
        let (succeeded, failed) = (show::count(&self.succeeded), show::count(&self.failed));
        let words = format!("{succeeded} delivered, {failed} failed");
        (vec![("", self.succeeded), ("bad", self.failed)], words)
    }

    /// Each part is what it takes more than the one below it.
    fn times(&self) -> (Vec<Part>, String) {
        let slowest = self.slowest();
        let (Some(half), Some(most)) = (self.p50_ms, self.p95_ms) else {
            return (vec![("", self.slowest_ms)], slowest);
        };
        let (p50, p95) = (half.round() as u64, most.round() as u64);
        let parts = vec![
            ("", p50),
            ("p95", p95.saturating_sub(p50)),
            ("slowest", self.slowest_ms.saturating_sub(p95.max(p50))),
        ];
        let words = format!("p50 {}, p95 {}, slowest {slowest}", self.p50(), self.p95());
        (parts, words)
    }

    pub(super) fn p50(&self) -> String {
        show::latency_or_none(self.p50_ms.map(|ms| ms / 1000.0).as_ref())
    }

    pub(super) fn p95(&self) -> String {
        show::latency_or_none(self.p95_ms.map(|ms| ms / 1000.0).as_ref())
    }

    pub(super) fn slowest(&self) -> String {
        match self.slowest_ms {
            0 => "–".to_owned(),
            ms => show::latency(&(ms as f64 / 1000.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_all_its_minutes() {
        let minute = |at: &str, failed| Minute { at: at.to_owned(), failed, ..Minute::default() };
        let minutes = vec![minute("2001-09-09T00:47:00.000Z", 2), minute("2001-09-09T01:46:00.000Z", 3)];
        let hour = Health { minutes, ..Health::default() }.hour_before(1_000_000_000_000);
        let seen: Vec<_> = hour.iter().map(|minute| (minute.clock(), minute.failed)).collect();
        assert_eq!((seen.len(), seen[0], seen[1], seen[59]), (60, ("00:47", 2), ("00:48", 0), ("01:46", 3)));
    }

    #[test]
    fn destinations_add_up_minute_by_minute() {
        let of = |minutes: &[(&str, u64, u64, u64)]| {
            let minute = |(at, succeeded, failed, slowest_ms): &(&str, u64, u64, u64)| Minute {
                at: format!("2001-09-09T{at}:00.000Z"),
                succeeded: *succeeded,
                failed: *failed,
                slowest_ms: *slowest_ms,
                ..Minute::default()
            };
            Health { minutes: minutes.iter().map(minute).collect(), ..Health::default() }
        };
        let both =
            Health::together(vec![of(&[("01:45", 1, 2, 30)]), of(&[("01:45", 4, 0, 7), ("01:46", 1, 0, 9)])]);
        let hour = both.hour_before(1_000_000_000_000);
        let figures = |minute: &Minute| (minute.succeeded, minute.failed, minute.slowest_ms);
        assert_eq!((figures(&hour[58]), figures(&hour[59])), ((5, 2, 30), (1, 0, 9)));
    }

    #[test]
    fn parts_of_a_minute_add_up_to_its_slowest_attempt() {
        let minute = |p50_ms, p95_ms, slowest_ms| Minute { p50_ms, p95_ms, slowest_ms, ..Minute::default() };
        let known = minute(Some(2.4), Some(40.0), 900).times();
        assert_eq!(known.0, [("", 2), ("p95", 38), ("slowest", 860)]);
        assert_eq!(known.1, "p50 2.4 ms, p95 40 ms, slowest 900 ms");
        let fast = minute(Some(0.5), Some(1.0), 0).times();
        assert_eq!(fast.0, [("", 1), ("p95", 0), ("slowest", 0)]);
        assert_eq!(minute(None, None, 7).times(), (vec![("", 7)], "7.0 ms".to_owned()));
    }
}
