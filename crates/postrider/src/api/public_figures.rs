//! The figures of the whole gateway for those without a key: read from the store once in a while, however many ask.

use postrider_core::time::Timestamp;
use postrider_store::Counts;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// As often as the store is asked for them.
const READ_EVERY: Duration = Duration::from_secs(5);

pub(super) struct PublicFigures {
    for_everybody: bool,
    last: Mutex<Last>,
}

#[derive(Clone, Copy, Default)]
struct Last {
    counts: Option<Counts>,
    /// From when on somebody is to read them anew.
    due_at: Option<Timestamp>,
}

impl PublicFigures {
    pub(super) fn new(for_everybody: bool) -> Self {
        PublicFigures { for_everybody, last: Mutex::default() }
    }

    /// Whether the operator lets anybody read them.
    pub(super) fn for_everybody(&self) -> bool {
        self.for_everybody
    }

    /// What was read lately. `None` says to whoever asks first that it is theirs to read them; the others get the old ones
    /// meanwhile.
    pub(super) fn fresh(&self, now: Timestamp) -> Option<Counts> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.due_at.is_none_or(|due| due <= now);
        if is_due {
            last.due_at = Some(now.after(READ_EVERY));
        }
        last.counts.filter(|_| !is_due)
    }

    pub(super) fn keep(&self, counts: Counts) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).counts = Some(counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_asked_once_in_a_while() {
        let figures = PublicFigures::new(true);
        let at = |seconds: u64| Timestamp::from_unix_ms(seconds * 1000);
        assert_eq!(figures.fresh(at(1)), None, "nobody has read them yet");
        let counts = Counts { delivered: 7, ..Counts::default() };
        figures.keep(counts);
        assert_eq!(figures.fresh(at(5)), Some(counts));
        assert_eq!(figures.fresh(at(6)), None, "they are to be read anew");
        assert_eq!(figures.fresh(at(6)), Some(counts), "by one of those who ask");
    }
}
