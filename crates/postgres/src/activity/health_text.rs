//! How attempts went as text, between nodes of one version or two.

use postrider_store::{ErrorKind, Health, HealthMinute, LatencyCounts};
use serde_json::{Value, json};

/// Of each minute what it came to, and those counts of its latency that are not zero with their places.
pub(super) fn to_json(health: &Health) -> String {
    let minute = |minute: &HealthMinute| {
        let counts = minute.latency.0.iter().enumerate().filter(|(_, count)| **count > 0);
        let counts: Vec<Value> = counts.map(|(place, count)| json!([place, count])).collect();
        json!([minute.number, minute.succeeded, minute.failed, minute.slowest_ms, counts])
    };
    let problems = health.frequent_problems();
    let problems: Vec<Value> = problems.iter().map(|(kind, count)| json!([kind.as_str(), count])).collect();
    json!({ "minutes": health.minutes.iter().map(minute).collect::<Vec<_>>(), "problems": problems })
        .to_string()
}

pub(super) fn from_json(text: &str) -> Option<Health> {
    let value: Value = serde_json::from_str(text).ok()?;
    let minutes = value.get("minutes")?.as_array()?.iter().map(minute).collect::<Option<_>>()?;
    let mut health = Health { minutes, ..Health::default() };
    for problem in value.get("problems")?.as_array()? {
        let (kind, count) = (problem.get(0)?.as_str()?, small(problem.get(1)?)?);
        // Another version may know more of them.
        if let Some(known) = ErrorKind::ALL.iter().find(|known| known.as_str() == kind) {
            health.problems[known.index()] = count;
        }
    }
    Some(health)
}

fn minute(value: &Value) -> Option<HealthMinute> {
    let figure = |index: usize| value.get(index).and_then(small);
    let mut latency = LatencyCounts::default();
    for count in value.get(4)?.as_array()? {
        let place = usize::try_from(count.get(0)?.as_u64()?).ok()?;
        *latency.0.get_mut(place)? = count.get(1)?.as_u64()?;
    }
    Some(HealthMinute {
        number: value.get(0)?.as_u64()?,
        succeeded: figure(1)?,
        failed: figure(2)?,
        slowest_ms: figure(3)?,
        latency,
    })
}

fn small(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_read_as_it_was_told() {
        let mut latency = LatencyCounts::default();
        [0, 3, 3, u64::MAX].into_iter().for_each(|ms| latency.note(ms));
        let minute =
            HealthMinute { number: 29_000_000, succeeded: 3, failed: 1, slowest_ms: u32::MAX, latency };
        let quiet = HealthMinute { number: 29_000_001, ..HealthMinute::default() };
        let mut problems = [0; ErrorKind::ALL.len()];
        problems[ErrorKind::Timeout.index()] = u32::MAX;
        let health = Health { minutes: vec![minute, quiet], problems };
        assert_eq!(from_json(&to_json(&health)), Some(health));
        assert_eq!(from_json(&to_json(&Health::default())), Some(Health::default()));
        let newer = from_json(r#"{"minutes": [], "problems": [["of tomorrow", 1]], "more": 1}"#);
        assert_eq!(newer, Some(Health::default()));
        for wrong in ["", "[]", r#"{"minutes": [[1, 2]], "problems": []}"#] {
            assert_eq!(from_json(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_hour_of_it_is_short() {
        let latency = LatencyCounts([65_535; LatencyCounts::PLACES]);
        let minute =
            |number| HealthMinute { number, succeeded: 1_000_000, failed: 9999, slowest_ms: 59_999, latency };
        let health =
            Health { minutes: (0..60).map(|n| minute(29_000_000 + n)).collect(), ..Health::default() };
        let bytes = to_json(&health).len();
        assert!(bytes < 16_000, "{bytes}");
    }
}
