//! How often the node had nothing left to begin an attempt with.

use super::Counter;
use crate::send::Shortage;
use postrider_core::time::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// However often it happens, the log has a line of each kind this often.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// By what there was none left of.
#[derive(Debug, Default)]
pub struct Shortages([Kind; Shortage::ALL.len()]);

#[derive(Debug, Default)]
struct Kind {
    count: Counter,
    last_ms: AtomicU64,
    logged_ms: AtomicU64,
}

/// One kind of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortageSeen {
    /// What there was none left of.
    pub shortage: Shortage,
    /// Attempts that were not begun for it since the start.
    pub count: u64,
    /// The last time; none if it never happened.
    pub last_at: Option<Timestamp>,
}

impl Shortages {
    /// An attempt could not begin. Whether the log is to say so.
    pub(crate) fn note(&self, shortage: Shortage, now: Timestamp) -> bool {
        let kind = &self.0[shortage.index()];
        kind.count.add(1);
        kind.last_ms.store(now.unix_ms(), Relaxed);
        let logged_at = kind.logged_ms.load(Relaxed);
        let is_due = logged_at == 0 || now.since(Timestamp::from_unix_ms(logged_at)) >= LOG_EVERY;
        if is_due {
            kind.logged_ms.store(now.unix_ms(), Relaxed);
        }
        is_due
    }

    /// Each kind, whether it happened or not.
    pub fn seen(&self) -> impl Iterator<Item = ShortageSeen> {
        Shortage::ALL.into_iter().zip(&self.0).map(|(shortage, kind)| {
            let last_at = Some(kind.last_ms.load(Relaxed)).filter(|ms| *ms > 0);
            ShortageSeen { shortage, count: kind.count.get(), last_at: last_at.map(Timestamp::from_unix_ms) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_and_logged_once_a_minute() {
        let (shortages, start) = (Shortages::default(), Timestamp::from_unix_ms(1_000_000));
        let note = |shortage, second| shortages.note(shortage, start.after(Duration::from_secs(second)));
        let logged: Vec<u64> = (0..150).filter(|second| note(Shortage::FileDescriptors, *second)).collect();
        assert_eq!(logged, [0, 60, 120]);
        assert!(note(Shortage::Memory, 150), "each kind by itself");
        let seen: Vec<_> = shortages.seen().map(|seen| (seen.shortage.as_str(), seen.count)).collect();
        let none = ["local_ports", "threads", "transformed_bodies"].map(|resource| (resource, 0));
        assert_eq!(seen, [("file_descriptors", 150), none[0], ("memory", 1), none[1], none[2]]);
        assert_eq!(shortages.seen().next().unwrap().last_at, Some(start.after(Duration::from_secs(149))));
    }
}
