//! Holds the ledger of what was answered against the log of what arrived.

use super::load::{Entry, Fate};
use super::sink::Arrival;
use postrider_torture::rig::window::{RECORDED_LATE, Window};
use std::collections::HashMap;
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
    let fates: HashMap<&[u8], Fate> = ledger.iter().map(|entry| (&entry.body[..], entry.fate)).collect();
    assert_eq!(fates.len(), ledger.len(), "bodies are unique");
    let mut seen: HashMap<(&str, &[u8]), Vec<&Arrival>> = HashMap::new();
    for arrival in arrivals {
        seen.entry((&arrival.path, &arrival.body)).or_default().push(arrival);
    }
    let mut audit = Audit::default();
    for ((path, body), times) in &mut seen {
        let fate = fates.get(body).filter(|_| paths.contains(path));
        match fate {
            Some(Fate::Accepted) => audit.ok += 1,
            Some(Fate::Unknown) => audit.unknown += 1,
            Some(Fate::Refused) | None => audit.phantom += 1,
        }
        times.sort_by_key(|arrival| arrival.began_at);
        for pair in times.windows(2) {
            let explained = faults.iter().any(|fault| explains(fault, pair[0], pair[1]));
            *(if explained { &mut audit.duplicate } else { &mut audit.unexplained }) += 1;
        }
    }
    let accepted = ledger.iter().filter(|entry| entry.fate == Fate::Accepted).count();
    audit.lost = accepted * paths.len() - audit.ok;
    audit
}

/// Whether the first of the two was in flight, or not recorded yet, while the fault was: what had long been recorded is
/// not sent again, whatever happens then.
fn explains(fault: &Fault, first: &Arrival, again: &Arrival) -> bool {
    let ended_at = first.ended_at.unwrap_or(again.began_at);
    let open = Window { from: first.began_at, until: ended_at + RECORDED_LATE };
    let cut = Window { from: fault.from, until: fault.until + READ_LATE };
    cut.touches(&open) && fault.from <= again.began_at
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
        check(&[a, b, ("/1", "a", 9)], &[[1, 1]], Audit { duplicate: 1, ..clean() });
        check(&[a, b, ("/1", "a", 9)], &[[5, 5]], Audit { unexplained: 1, ..clean() });
        check(&[a, b, ("/1", "a", 9)], &[[10, 10]], Audit { unexplained: 1, ..clean() });
        check(&[b, ("/1", "a", 5), ("/1", "a", 9)], &[[3, 7]], Audit { duplicate: 1, ..clean() });
        check(&[b, ("/1", "a", 5), ("/1", "a", 9)], &[[3, 4]], Audit { unexplained: 1, ..clean() });
        check(&[("/1", "a", 9), b, a], &[], Audit { unexplained: 1, ..clean() });
        check(
            &[a, b, ("/1", "a", 4), ("/1", "a", 9)],
            &[[1, 1]],
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
