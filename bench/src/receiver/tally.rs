//! What came in, path by path and load by load, and the report of it.

use super::question::Question;
use super::seen::Seen;
use crate::event::Stamp;
use crate::latency::Latency;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A benchmark has at most 26 destinations; whatever else arrives shares one entry.
const PATHS_MAX: usize = 64;
const PATH_OF_THE_REST: &str = "(other)";
/// A scenario has at most three loads at once; the numbers above share the last.
const LOADS_MAX: u8 = 8;
/// An hour of arrivals, counted by the second; later ones are not.
const SECONDS_MAX: usize = 3600;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    paths: BTreeMap<String, Vec<(u8, PathTally)>>,
}

/// A request as the tally sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) path: &'a str,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) kind: Kind,
}

/// What a request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A 2xx in time: the event has been received.
    Received,
    /// Another status.
    Rejected,
    /// No answer, or one that is too late.
    Withheld,
}

/// What `GET /report` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceiverReport {
    pub(crate) paths: BTreeMap<String, PathReport>,
    /// All paths together.
    pub(crate) all: PathReport,
    /// Events received in each second, by its number since 1970.
    pub(crate) per_second: BTreeMap<u64, u64>,
    /// The most requests at once on one path.
    pub(crate) in_flight_max: u64,
}

/// One path. Latency is from the time in the event to its arrival here, over every arrival that was received.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
    /// Arrivals that were answered with a failure, and those without an answer in time.
    pub(crate) rejected: u64,
    pub(crate) withheld: u64,
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
    rejected: u64,
    withheld: u64,
    per_second: BTreeMap<u64, u64>,
}

impl Tally {
    pub(crate) fn record(&mut self, arrival: Arrival<'_>, now_ns: u64) {
        let load = arrival.stamp.map_or(0, |stamp| stamp.load.min(LOADS_MAX - 1));
        let tally = self.of(arrival.path, load);
        match arrival.kind {
            Kind::Received => tally.receive(arrival.stamp, now_ns),
            Kind::Rejected => tally.rejected += 1,
            Kind::Withheld => tally.withheld += 1,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.paths.clear();
    }

    /// Without what is in flight, which the tally does not see.
    pub(crate) fn report(&self, question: &Question) -> ReceiverReport {
        let (mut all, mut paths) = (PathTally::new(), BTreeMap::new());
        for (path, loads) in &self.paths {
            let mut of_path = PathTally::new();
            let asked = loads.iter().filter(|(load, _)| question.is_about(path, *load));
            let found = asked.map(|(_, tally)| of_path.add(tally)).count();
            if found > 0 {
                all.add(&of_path);
                paths.insert(path.clone(), of_path.report());
            }
        }
        ReceiverReport { paths, all: all.report(), per_second: all.per_second, in_flight_max: 0 }
    }

    fn of(&mut self, path: &str, load: u8) -> &mut PathTally {
        let known = self.paths.len() < PATHS_MAX || self.paths.contains_key(path);
        let path = if known { path } else { PATH_OF_THE_REST };
        if !self.paths.contains_key(path) {
            self.paths.insert(path.to_owned(), Vec::new());
        }
        let loads = self.paths.get_mut(path).expect("put there above where it was missing");
        let at = loads.iter().position(|(known, _)| *known == load).unwrap_or_else(|| {
            loads.push((load, PathTally::new()));
            loads.len() - 1
        });
        &mut loads[at].1
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
            rejected: 0,
            withheld: 0,
            per_second: BTreeMap::new(),
        }
    }

    fn receive(&mut self, stamp: Option<Stamp>, now_ns: u64) {
        self.count += 1;
        self.first_ns = self.first_ns.min(now_ns);
        self.last_ns = self.last_ns.max(now_ns);
        self.count_second(now_ns / 1_000_000_000, 1);
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
        self.rejected += other.rejected;
        self.withheld += other.withheld;
        other.per_second.iter().for_each(|(second, count)| self.count_second(*second, *count));
    }

    fn count_second(&mut self, second: u64, count: u64) {
        if self.per_second.len() < SECONDS_MAX || self.per_second.contains_key(&second) {
            *self.per_second.entry(second).or_default() += count;
        }
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
            rejected: self.rejected,
            withheld: self.withheld,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(tally: &mut Tally, path: &str, seq: u64, sent_us: u64, now_us: u64) {
        let stamp = Some(Stamp { sent_ns: sent_us * 1000, seq, load: 0 });
        tally.record(Arrival { path, stamp, kind: Kind::Received }, now_us * 1000);
    }

    fn everything(tally: &Tally) -> ReceiverReport {
        tally.report(&Question::default())
    }

    #[test]
    fn paths_are_counted_apart_and_together() {
        let mut tally = Tally::default();
        arrive(&mut tally, "/hook/a", 0, 100, 150);
        arrive(&mut tally, "/hook/b", 1, 90, 290);
        arrive(&mut tally, "/hook/b", 1, 90, 390);
        let report = everything(&tally);
        let counts =
            |path: &PathReport| (path.count, path.unique, path.max_us, path.first_sent_ns, path.last_ns);
        assert_eq!(counts(&report.paths["/hook/a"]), (1, 1, 50, 100_000, 150_000));
        assert_eq!(counts(&report.paths["/hook/b"]), (2, 1, 300, 90_000, 390_000));
        assert_eq!(counts(&report.all), (3, 2, 300, 90_000, 390_000));
    }

    #[test]
    fn loads_on_one_path_are_told_apart() {
        let mut tally = Tally::default();
        for load in [0, 1, 1, u8::MAX] {
            let stamp = Some(Stamp { sent_ns: 0, seq: 5, load });
            tally.record(Arrival { path: "/a", stamp, kind: Kind::Received }, 1000);
        }
        let of = |load| tally.report(&Question::under("/a").of_load(load)).all;
        assert_eq!((of(0).count, of(0).unique), (1, 1));
        assert_eq!((of(1).count, of(1).unique), (2, 1));
        assert_eq!(of(2).count, 0);
        assert_eq!(everything(&tally).all.unique, 3);
    }

    #[test]
    fn what_was_not_answered_well_is_counted_and_not_received() {
        let mut tally = Tally::default();
        for kind in [Kind::Rejected, Kind::Rejected, Kind::Withheld] {
            tally.record(Arrival { path: "/a", stamp: None, kind }, 1000);
        }
        let all = everything(&tally).all;
        assert_eq!((all.count, all.unique, all.rejected, all.withheld), (0, 0, 2, 1));
    }

    #[test]
    fn arrivals_are_counted_by_the_second() {
        let mut tally = Tally::default();
        for (seq, now_ms) in [(0, 1000), (1, 1999), (2, 3000)] {
            arrive(&mut tally, if seq == 0 { "/a" } else { "/b" }, seq, 0, now_ms * 1000);
        }
        assert_eq!(everything(&tally).per_second, BTreeMap::from([(1, 2), (3, 1)]));
    }

    #[test]
    fn a_body_without_a_stamp_is_counted_but_is_no_event() {
        let mut tally = Tally::default();
        tally.record(Arrival { path: "/hook/a", stamp: None, kind: Kind::Received }, 5);
        let all = everything(&tally).all;
        assert_eq!((all.count, all.unique, all.max_us), (1, 0, 0));
    }

    #[test]
    fn the_map_of_paths_is_bounded_and_clear_empties_it() {
        let mut tally = Tally::default();
        (0..1000).for_each(|n| arrive(&mut tally, &format!("/{n}"), n, 1, 2));
        assert_eq!(tally.paths.len(), PATHS_MAX + 1);
        assert_eq!(everything(&tally).all.count, 1000);
        tally.clear();
        assert_eq!(everything(&tally).all.count, 0);
    }
}
