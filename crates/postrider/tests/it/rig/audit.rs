//! Holds the ledger of what was answered against the log of what arrived, by the judge of `scripts/torture`.

use super::load::{Entry, Fate};
use super::sink::Arrival;
use postrider_torture::check::check;
use postrider_torture::history::{
    self, Answer, Destination, History, Limit, Line, Moment, Posted, SECOND, Struck,
};
use postrider_torture::rig::window::Window;
use postrider_torture::watch::hash_of;
use std::time::{Duration, Instant};

/// While this was done, everything in flight may have been cut off.
pub(crate) type Fault = Window<Instant>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    /// Accepted and arrived.
    pub(crate) ok: usize,
    /// Accepted and not arrived.
    pub(crate) lost: usize,
    /// Not answered, and arrived all the same.
    pub(crate) unknown: usize,
    /// Arrived again after an attempt that a fault had cut off.
    pub(crate) duplicate: usize,
    /// Arrived again although nothing had happened while it was in flight.
    pub(crate) unexplained: usize,
    /// Arrived but was refused, or never sent.
    pub(crate) phantom: usize,
}

/// What a process had written before it was killed may be read from the socket this much later.
const READ_LATE: Duration = Duration::from_millis(500);

/// One that took no time.
pub(crate) fn fault_at(moment: Instant) -> Fault {
    Fault { from: moment, until: moment }
}

/// One that is over now.
pub(crate) fn fault_since(from: Instant) -> Fault {
    Fault { from, until: Instant::now() }
}

/// Each event is owed to each of the paths once.
pub(crate) fn audit(ledger: &[Entry], arrivals: &[Arrival], paths: &[&str], faults: &[Fault]) -> Audit {
    let found = check(&Seen::new(ledger, arrivals, faults).history(paths)).total();
    Audit {
        ok: found.ok,
        lost: found.lost,
        unknown: found.unknown,
        duplicate: found.duplicate,
        unexplained: found.unexplained,
        phantom: found.phantom,
    }
}

/// What a test knows.
struct Seen<'t> {
    ledger: &'t [Entry],
    arrivals: &'t [Arrival],
    faults: &'t [Fault],
    /// The first of all that happened.
    first: Instant,
    now: Instant,
}

/// All events of a test are of one kind, and each of its paths is owed it.
const KIND: u8 = 0;

impl<'t> Seen<'t> {
    fn new(ledger: &'t [Entry], arrivals: &'t [Arrival], faults: &'t [Fault]) -> Self {
        let now = Instant::now();
        let moments =
            arrivals.iter().map(|arrival| arrival.began_at).chain(faults.iter().map(|fault| fault.from));
        Seen { ledger, arrivals, faults, first: moments.min().unwrap_or(now), now }
    }

    /// The same as the judge reads it. A test does not say which node sent what, and looks at limits itself.
    fn history(&self, paths: &[&str]) -> History {
        let others = self.arrivals.iter().map(|arrival| &arrival.path[..]);
        let mut names = paths.to_vec();
        for other in others {
            if !names.contains(&other) {
                names.push(other);
            }
        }
        let destination = |name: &&str| destination(name, paths.contains(name));
        let index = |arrival: &Arrival| names.iter().position(|name| *name == arrival.path);
        let arrived = |arrival| Some(self.arrival(arrival, index(arrival)?));
        History {
            destinations: names.iter().map(destination).collect(),
            posted: self.ledger.iter().map(posted).collect(),
            arrivals: self.arrivals.iter().filter_map(arrived).collect(),
            faults: self.faults.iter().map(|fault| self.fault(fault)).collect(),
            ..History::default()
        }
    }

    /// The sinks of these tests take whatever they answer; what they have not answered is in flight.
    fn arrival(&self, arrival: &Arrival, destination: usize) -> history::Arrival {
        history::Arrival {
            destination,
            event: hash_of(arrival.headers.get("webhook-id").unwrap_or_default().as_bytes()),
            body: hash_of(&arrival.body),
            attempt: 1,
            node: 0,
            began: self.moment(arrival.began_at),
            ended: self.moment(arrival.ended_at.unwrap_or(self.now)),
            answer: if arrival.ended_at.is_some() { Answer::Taken } else { Answer::Cut },
            again_after: 0,
        }
    }

    fn fault(&self, fault: &Fault) -> history::Fault {
        let (from, until) = (self.moment(fault.from), self.moment(fault.until + READ_LATE));
        history::Fault { what: String::new(), struck: Struck::All, from, until }
    }

    fn moment(&self, at: Instant) -> Moment {
        at.saturating_duration_since(self.first).as_micros() as Moment
    }
}

/// Tests look at limits and attempts themselves.
fn destination(name: &str, is_owed: bool) -> Destination {
    Destination {
        name: name.to_owned(),
        kinds: if is_owed { vec![KIND] } else { Vec::new() },
        line: Line::Unordered,
        limits: vec![Limit { from: 0, max_concurrency: u32::MAX }],
        timeout: Moment::from(u32::MAX) * SECOND,
        attempts_max: u32::MAX,
    }
}

/// A ledger of these tests does not say when, nor under which id.
fn posted(entry: &Entry) -> Posted {
    let fate = match entry.fate {
        Fate::Accepted => history::Fate::Accepted,
        Fate::Refused => history::Fate::Refused,
        Fate::Unknown => history::Fate::Unknown,
    };
    Posted { body: hash_of(&entry.body), kind: KIND, key: 0, began: 0, answered: 0, fate, event: None }
}

impl Audit {
    /// Nothing lost, nothing made up, nothing twice without a reason.
    pub(crate) fn is_clean(&self) -> bool {
        (self.lost, self.unexplained, self.phantom) == (0, 0, 0)
    }
}

impl std::fmt::Display for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Audit { ok, lost, unknown, duplicate, unexplained, phantom } = self;
        write!(f, "ok {ok} / lost {lost} / unknown {unknown} / duplicate {duplicate} / ")?;
        write!(f, "unexplained duplicate {unexplained} / phantom {phantom}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::wire::Headers;

    /// Planted arrivals as path, body and second, each answered at once; faults as the seconds that they took.
    fn check(arrivals: &[(&str, &str, u64)], faults: &[[u64; 2]], expected: Audit) {
        let began = Instant::now();
        let at = |second: u64| began + Duration::from_secs(second);
        let entry = |(body, fate): &(&str, Fate)| Entry { body: body.as_bytes().to_vec(), fate: *fate };
        let ledger =
            [("a", Fate::Accepted), ("b", Fate::Accepted), ("r", Fate::Refused), ("u", Fate::Unknown)];
        let ledger: Vec<Entry> = ledger.iter().map(entry).collect();
        let arrival = |(path, body, second): &(&str, &str, u64)| Arrival {
            path: (*path).to_owned(),
            headers: Headers::default(),
            body: body.as_bytes().to_vec(),
            began_at: at(*second),
            ended_at: Some(at(*second)),
        };
        let arrivals: Vec<Arrival> = arrivals.iter().map(arrival).collect();
        let fault = |seconds: &[u64; 2]| Fault { from: at(seconds[0]), until: at(seconds[1]) };
        let faults: Vec<Fault> = faults.iter().map(fault).collect();
        assert_eq!(audit(&ledger, &arrivals, &["/1"], &faults), expected, "{arrivals:?}");
    }

    #[test]
    fn an_audit_finds_what_is_lost_twice_or_made_up() {
        let (a, b) = (("/1", "a", 0), ("/1", "b", 1));
        let clean = || Audit { ok: 2, ..Audit::default() };
        check(&[a, b], &[], clean());
        check(&[a], &[], Audit { ok: 1, lost: 1, ..Audit::default() });
        check(&[a, b, ("/1", "u", 1)], &[], Audit { unknown: 1, ..clean() });
        check(&[a, b, ("/1", "r", 1)], &[], Audit { phantom: 1, ..clean() });
        check(&[a, b, ("/1", "made up", 1)], &[], Audit { phantom: 1, ..clean() });
        check(&[a, b, ("/2", "a", 1)], &[], Audit { phantom: 1, ..clean() });
        check(&[a, b, ("/1", "a", 9)], &[[0, 0]], Audit { duplicate: 1, ..clean() });
        check(&[a, b, ("/1", "a", 9)], &[[1, 1]], Audit { unexplained: 1, ..clean() });
        check(&[a, b, ("/1", "a", 9)], &[[10, 10]], Audit { unexplained: 1, ..clean() });
        check(&[b, ("/1", "a", 5), ("/1", "a", 9)], &[[3, 7]], Audit { duplicate: 1, ..clean() });
        check(&[b, ("/1", "a", 5), ("/1", "a", 9)], &[[3, 4]], Audit { unexplained: 1, ..clean() });
        check(&[("/1", "a", 9), b, a], &[], Audit { unexplained: 1, ..clean() });
        check(
            &[a, b, ("/1", "a", 4), ("/1", "a", 9)],
            &[[0, 0]],
            Audit { duplicate: 1, unexplained: 1, ..clean() },
        );
    }

    #[test]
    fn only_what_a_fault_explains_is_clean() {
        assert!(Audit { ok: 5, unknown: 1, duplicate: 2, ..Audit::default() }.is_clean());
        for dirty in [
            Audit { lost: 1, ..Audit::default() },
            Audit { unexplained: 1, ..Audit::default() },
            Audit { phantom: 1, ..Audit::default() },
        ] {
            assert!(!dirty.is_clean(), "{dirty}");
        }
    }
}
