//! What the receiver saw, path by path.

use super::behaviour::Limits;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

/// A sender that makes up paths is told of the first so many.
const PATHS_MAX: usize = 1000;
/// Ids that are remembered for each path.
const IDS_MAX: usize = 100_000;
/// Ids whose order is shown.
const ORDER_MAX: usize = 100;
const SECOND: Duration = Duration::from_secs(1);

/// Whether a signature was right.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signature {
    Valid,
    Invalid,
    /// There is no secret to check it by.
    Unchecked,
}

#[derive(Default)]
pub(crate) struct Report {
    paths: BTreeMap<String, Seen>,
}

#[derive(Default)]
struct Seen {
    requests: u64,
    bytes: u64,
    in_flight: u64,
    in_flight_max: u64,
    answers: BTreeMap<String, u64>,
    signatures_valid: u64,
    signatures_invalid: u64,
    duplicates: u64,
    retries: u64,
    misordered: u64,
    greatest: String,
    ids: HashMap<String, Known>,
    oldest: VecDeque<String>,
    /// When the requests of the last second came that a limit let through: never more than the limit.
    lately: VecDeque<Instant>,
}

/// What is known of an id.
struct Known {
    came_at: Instant,
    /// It was answered with success.
    is_delivered: bool,
}

/// A request as far as the report looks at it.
pub(super) struct Arrival<'a> {
    pub(super) path: &'a str,
    /// `webhook-id`; empty when there is none.
    pub(super) id: &'a str,
    pub(super) bytes: u64,
    pub(super) signature: Signature,
}

impl Report {
    /// Whether it is let through.
    pub(super) fn arrives(&mut self, arrival: &Arrival<'_>, limits: Limits, now: Instant) -> bool {
        let seen = self.at(arrival.path);
        seen.requests += 1;
        seen.bytes += arrival.bytes;
        seen.in_flight += 1;
        seen.in_flight_max = seen.in_flight_max.max(seen.in_flight);
        match arrival.signature {
            Signature::Valid => seen.signatures_valid += 1,
            Signature::Invalid => seen.signatures_invalid += 1,
            Signature::Unchecked => {}
        }
        if !arrival.id.is_empty() {
            seen.note(arrival.id, now);
        }
        seen.is_let_through(limits, now)
    }

    /// It was answered with this status, or left without an answer in this way.
    pub(super) fn leaves(&mut self, path: &str, id: &str, how: &str) {
        let seen = self.at(path);
        seen.in_flight = seen.in_flight.saturating_sub(1);
        *seen.answers.entry(how.to_owned()).or_default() += 1;
        if how.starts_with('2')
            && let Some(known) = seen.ids.get_mut(id)
        {
            known.is_delivered = true;
        }
    }

    pub(super) fn forget(&mut self) {
        // What is in flight still leaves, so it must still be known.
        for seen in self.paths.values_mut() {
            *seen = Seen { in_flight: seen.in_flight, in_flight_max: seen.in_flight, ..Seen::default() };
        }
        self.paths.retain(|_, seen| seen.in_flight > 0);
    }

    /// When an event first came to a path.
    pub(crate) fn arrival(&self, path: &str, id: &str) -> Option<Instant> {
        self.paths.get(path)?.ids.get(id).map(|known| known.came_at)
    }

    /// How many requests a path has answered with success.
    pub(crate) fn succeeded(&self, path: &str) -> u64 {
        self.paths.get(path).map_or(0, Seen::succeeded)
    }

    /// The same of all paths.
    pub(crate) fn succeeded_in_all(&self) -> u64 {
        self.paths.values().map(Seen::succeeded).sum()
    }

    pub(crate) fn json(&self) -> Value {
        let paths = self.paths.iter().map(|(path, seen)| (path.clone(), seen.json()));
        json!({ "paths": paths.collect::<serde_json::Map<_, _>>() })
    }

    fn at(&mut self, path: &str) -> &mut Seen {
        let is_known = self.paths.contains_key(path) || self.paths.len() < PATHS_MAX;
        self.paths.entry(if is_known { path } else { "(others)" }.to_owned()).or_default()
    }
}

impl Seen {
    fn succeeded(&self) -> u64 {
        self.answers.iter().filter(|(how, _)| how.starts_with('2')).map(|(_, count)| count).sum()
    }

    fn delivered(&self) -> usize {
        self.ids.values().filter(|known| known.is_delivered).count()
    }

    /// Whether the limits have room for one more, which is in flight already. It is noted only if they have: a receiver
    /// that is asked for more than it takes still takes as much as it said.
    fn is_let_through(&mut self, limits: Limits, now: Instant) -> bool {
        while self.lately.front().is_some_and(|at| now.duration_since(*at) >= SECOND) {
            self.lately.pop_front();
        }
        let over = |limit: Option<u64>, now: u64| limit.is_some_and(|limit| now > limit);
        let is_over = over(limits.max_in_flight, self.in_flight)
            || over(limits.per_second, self.lately.len() as u64 + 1);
        if !is_over && limits.per_second.is_some() {
            self.lately.push_back(now);
        }
        !is_over
    }

    /// The same id again is a duplicate when it was answered with success before, and a retry when it was not.
    fn note(&mut self, id: &str, now: Instant) {
        if let Some(known) = self.ids.get(id) {
            if known.is_delivered {
                self.duplicates += 1;
            } else {
                self.retries += 1;
            }
            return;
        }
        // Ids of events are ordered by time, so a smaller one that is new has been overtaken.
        if id < self.greatest.as_str() {
            self.misordered += 1;
        } else {
            id.clone_into(&mut self.greatest);
        }
        self.ids.insert(id.to_owned(), Known { came_at: now, is_delivered: false });
        self.oldest.push_back(id.to_owned());
        if self.oldest.len() > IDS_MAX {
            self.oldest.pop_front().map(|oldest| self.ids.remove(&oldest));
        }
    }

    fn json(&self) -> Value {
        let order: Vec<&String> = self.oldest.iter().rev().take(ORDER_MAX).rev().collect();
        json!({
            "requests": self.requests,
            "bytes": self.bytes,
            "in_flight": self.in_flight,
            "in_flight_max": self.in_flight_max,
            "answers": self.answers,
            "events": self.ids.len(),
            "delivered": self.delivered(),
            "retries": self.retries,
            "duplicates": self.duplicates,
            "misordered": self.misordered,
            "signatures": { "valid": self.signatures_valid, "invalid": self.signatures_invalid },
            "order": order,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(report: &mut Report, id: &str) {
        assert!(
            arrives(report, id, Limits::default(), Instant::now()),
            "without a limit all are let through"
        );
    }

    fn arrives(report: &mut Report, id: &str, limits: Limits, now: Instant) -> bool {
        let arrival = Arrival { path: "/a", id, bytes: 1, signature: Signature::Valid };
        report.arrives(&arrival, limits, now)
    }

    #[test]
    fn retries_duplicates_and_what_was_overtaken_are_told_apart() {
        let mut report = Report::default();
        arrive(&mut report, "evt_1");
        arrive(&mut report, "evt_3");
        report.leaves("/a", "evt_1", "500");
        report.leaves("/a", "evt_3", "200");
        for (id, how) in [("evt_1", "200"), ("evt_3", "200"), ("evt_2", "200")] {
            arrive(&mut report, id);
            report.leaves("/a", id, how);
        }
        let seen = &report.json()["paths"]["/a"];
        let counts = ["requests", "in_flight_max", "retries", "duplicates", "misordered", "delivered"];
        assert_eq!(counts.map(|name| seen[name].clone()), [5, 2, 1, 1, 1, 3].map(Value::from));
        assert_eq!(seen["order"], json!(["evt_1", "evt_3", "evt_2"]));
        assert_eq!((report.succeeded("/a"), report.succeeded("/b"), report.succeeded_in_all()), (4, 0, 4));
        report.forget();
        assert_eq!(report.json(), json!({ "paths": {} }));
    }
    #[test]
    fn a_limit_a_second_counts_those_that_it_let_through() {
        let (mut report, began) = (Report::default(), Instant::now());
        let limits = Limits { per_second: Some(2), max_in_flight: None };
        let mut at = |ms: u64| arrives(&mut report, "", limits, began + Duration::from_millis(ms));
        // By tens of milliseconds, without a pause: two of every second, and not two in all.
        let let_through: Vec<u64> = (0..300).map(|step| step * 10).filter(|ms| at(*ms)).collect();
        assert_eq!(let_through, [0, 10, 1000, 1010, 2000, 2010]);
    }

    #[test]
    fn a_limit_in_flight_is_over_when_one_more_comes() {
        let (mut report, now) = (Report::default(), Instant::now());
        let limits = Limits { max_in_flight: Some(1), per_second: None };
        assert!(arrives(&mut report, "", limits, now));
        assert!(!arrives(&mut report, "", limits, now));
        report.leaves("/a", "", "429");
        report.leaves("/a", "", "200");
        assert!(arrives(&mut report, "", limits, now));
    }
}
