//! How attempts went at a destination or at all of an account, as the pages draw it.

use super::chart::{Chart, Spark, Value};
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
        for Minute { at, succeeded, failed, slowest_ms } in all.into_iter().flat_map(|health| health.minutes)
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

    pub(super) fn charts(&self) -> Vec<Chart> {
        let hour = self.hour();
        let draw = |value: fn(&Minute) -> (u64, u64, String)| -> Vec<Value> {
            let of = |minute: &Minute| {
                let (good, bad, words) = value(minute);
                Value {
                    at: minute.clock().to_owned(),
                    good,
                    bad,
                    title: format!("{}: {words}", minute.clock()),
                }
            };
            hour.iter().map(of).collect()
        };
        let attempts = draw(|minute| {
            let words = format!(
                "{} delivered, {} failed",
                show::count(&minute.succeeded),
                show::count(&minute.failed)
            );
            (minute.succeeded, minute.failed, words)
        });
        let slowest =
            draw(|minute| (minute.slowest_ms, 0, show::latency(&(minute.slowest_ms as f64 / 1000.0))));
        vec![
            Chart::new("Attempts: delivered, and failed on top", &attempts, |most| {
                format!("at most {} a minute", show::count(&most))
            }),
            Chart::new("The slowest attempt", &slowest, |most| {
                format!("at most {}", show::latency(&(most as f64 / 1000.0)))
            }),
        ]
    }
}

impl Minute {
    /// The time of day.
    pub(super) fn clock(&self) -> &str {
        self.at.get(11..16).unwrap_or(&self.at)
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
            };
            Health { minutes: minutes.iter().map(minute).collect(), ..Health::default() }
        };
        let both =
            Health::together(vec![of(&[("01:45", 1, 2, 30)]), of(&[("01:45", 4, 0, 7), ("01:46", 1, 0, 9)])]);
        let hour = both.hour_before(1_000_000_000_000);
        let figures = |minute: &Minute| (minute.succeeded, minute.failed, minute.slowest_ms);
        assert_eq!((figures(&hour[58]), figures(&hour[59])), ((5, 2, 30), (1, 0, 9)));
    }
}
