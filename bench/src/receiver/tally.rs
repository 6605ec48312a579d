//! What came in, path by path, and the report of it.

use super::seen::Seen;
use crate::event::Stamp;
use crate::latency::Latency;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A benchmark has at most 26 destinations; whatever else arrives shares one entry.
const PATHS_MAX: usize = 64;
const PATH_OF_THE_REST: &str = "(other)";

#[derive(Debug, Default)]
pub(crate) struct Tally {
    paths: BTreeMap<String, PathTally>,
}

/// What `GET /report` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceiverReport {
    pub(crate) paths: BTreeMap<String, PathReport>,
    /// All paths together.
    pub(crate) all: PathReport,
}

/// One path. Latency is from the time in the event to its arrival here, over every arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PathReport {
    pub(crate) count: u64,
    /// Arrivals without those of an event that had come already.
    pub(crate) unique: u64,
    pub(crate) p50_us: u64,
    pub(crate) p99_us: u64,
    pub(crate) max_us: u64,
    pub(crate) first_sent_ns: u64,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
}

#[derive(Debug)]
struct PathTally {
    count: u64,
    unique: u64,
    seen: Seen,
    latency: Latency,
    first_sent_ns: u64,
    first_ns: u64,
    last_ns: u64,
}

impl Tally {
    pub(crate) fn record(&mut self, path: &str, body: &[u8], now_ns: u64) {
        let tally = match self.paths.get_mut(path) {
            Some(tally) => tally,
            None => self.add_path(path),
        };
        tally.record(Stamp::read(body), now_ns);
    }

    pub(crate) fn clear(&mut self) {
        self.paths.clear();
    }

    pub(crate) fn report(&self) -> ReceiverReport {
        let mut all = PathTally::new();
        self.paths.values().for_each(|tally| all.add(tally));
        let paths = self.paths.iter().map(|(path, tally)| (path.clone(), tally.report())).collect();
        ReceiverReport { paths, all: all.report() }
    }

    fn add_path(&mut self, path: &str) -> &mut PathTally {
        let path = if self.paths.len() < PATHS_MAX { path } else { PATH_OF_THE_REST };
        self.paths.entry(path.to_owned()).or_insert_with(PathTally::new)
    }
}

impl PathTally {
    fn new() -> PathTally {
        PathTally {
            count: 0,
            unique: 0,
            seen: Seen::default(),
            latency: Latency::new(),
            first_sent_ns: u64::MAX,
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }

    fn record(&mut self, stamp: Option<Stamp>, now_ns: u64) {
        self.count += 1;
        self.first_ns = self.first_ns.min(now_ns);
        self.last_ns = self.last_ns.max(now_ns);
        let Some(stamp) = stamp else { return };
        self.unique += u64::from(self.seen.insert(stamp.seq));
        self.first_sent_ns = self.first_sent_ns.min(stamp.sent_ns);
        self.latency.record_ns(now_ns.saturating_sub(stamp.sent_ns));
    }

    fn add(&mut self, other: &PathTally) {
        self.count += other.count;
        self.unique += other.unique;
        self.latency.add(&other.latency);
        self.first_sent_ns = self.first_sent_ns.min(other.first_sent_ns);
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }

    fn report(&self) -> PathReport {
        PathReport {
            count: self.count,
            unique: self.unique,
            p50_us: self.latency.p50_us(),
            p99_us: self.latency.p99_us(),
            max_us: self.latency.max_us(),
            first_sent_ns: self.first_sent_ns,
            first_ns: self.first_ns,
            last_ns: self.last_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(tally: &mut Tally, path: &str, seq: u64, sent_us: u64, now_us: u64) {
        tally.record(path, &Stamp { sent_ns: sent_us * 1000, seq }.body(128), now_us * 1000);
    }

    #[test]
    fn paths_are_counted_apart_and_together() {
        let mut tally = Tally::default();
        arrive(&mut tally, "/hook/a", 0, 100, 150);
        arrive(&mut tally, "/hook/b", 1, 90, 290);
        arrive(&mut tally, "/hook/b", 1, 90, 390);
        let report = tally.report();
        let counts =
            |path: &PathReport| (path.count, path.unique, path.max_us, path.first_sent_ns, path.last_ns);
        assert_eq!(counts(&report.paths["/hook/a"]), (1, 1, 50, 100_000, 150_000));
        assert_eq!(counts(&report.paths["/hook/b"]), (2, 1, 300, 90_000, 390_000));
        assert_eq!(counts(&report.all), (3, 2, 300, 90_000, 390_000));
    }

    #[test]
    fn a_body_without_a_stamp_is_counted_but_is_no_event() {
        let mut tally = Tally::default();
        tally.record("/hook/a", b"hello", 5);
        let all = tally.report().all;
        assert_eq!((all.count, all.unique, all.max_us), (1, 0, 0));
    }

    #[test]
    fn the_map_of_paths_is_bounded_and_clear_empties_it() {
        let mut tally = Tally::default();
        (0..1000).for_each(|n| arrive(&mut tally, &format!("/{n}"), n, 1, 2));
        assert_eq!(tally.paths.len(), PATHS_MAX + 1);
        assert_eq!(tally.report().all.count, 1000);
        tally.clear();
        assert_eq!(tally.report().all.count, 0);
    }
}
