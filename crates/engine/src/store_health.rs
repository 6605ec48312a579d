//! Whether the store can be written and how much room it has: looked at now and then, so that nobody who asks has to
//! wait for it.

use postrider_core::time::Timestamp;
use postrider_store::{Space, StoreError};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A look that is older than this tells nothing: whoever looks is held up by the store. The store is looked at ten times a
/// second.
const STALE: Duration = Duration::from_secs(5);

/// How the last look found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Found {
    Writable,
    /// Full up to its reserve.
    Full,
    /// It does not answer.
    Away,
}

/// How the store is.
#[derive(Debug, Default)]
pub struct StoreHealth {
    found: AtomicU8,
    looked_at_ms: AtomicU64,
    space: Mutex<Space>,
}

impl StoreHealth {
    /// Takes in a look; gives what the one before had found.
    pub(crate) fn note(&self, look: &Result<(), StoreError>, now: Timestamp) -> (Found, Found) {
        let found = match look {
            Ok(()) => Found::Writable,
            Err(StoreError::Full) => Found::Full,
            Err(_) => Found::Away,
        };
        self.looked_at_ms.store(now.unix_ms(), Relaxed);
        (read(self.found.swap(found as u8, Relaxed)), found)
    }

    pub(crate) fn note_space(&self, space: Space) {
        *self.space.lock().unwrap_or_else(PoisonError::into_inner) = space;
    }

    pub(crate) fn is_full(&self) -> bool {
        read(self.found.load(Relaxed)) == Found::Full
    }

    /// Whether it did not answer, or has not for long. Before the first look it has just been opened.
    pub(crate) fn is_away(&self, now: Timestamp) -> bool {
        let looked_at = Timestamp::from_unix_ms(self.looked_at_ms.load(Relaxed));
        let stale = looked_at != Timestamp::ZERO && now.since(looked_at) > STALE;
        stale || read(self.found.load(Relaxed)) == Found::Away
    }

    /// Whether it could be written when it was looked at.
    pub fn is_writable(&self) -> bool {
        read(self.found.load(Relaxed)) == Found::Writable
    }

    /// How much room it takes and has.
    pub fn space(&self) -> Space {
        *self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(found: u8) -> Found {
    match found {
        1 => Found::Full,
        2 => Found::Away,
        _ => Found::Writable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_does_not_answer_is_away() {
        let (health, start) = (StoreHealth::default(), Timestamp::from_unix_ms(1_000_000));
        assert!(!health.is_away(start), "it has just been opened");
        health.note(&Ok(()), start);
        assert!(!health.is_away(start.after(STALE)));
        assert!(health.is_away(start.after(STALE * 2)), "nobody could look");
        health.note(&Err(StoreError::Full), start);
        assert!(health.is_full() && !health.is_writable() && !health.is_away(start));
        health.note(&Err(StoreError::Unavailable("gone".to_owned())), start);
        assert!(health.is_away(start) && !health.is_full());
        assert_eq!(health.note(&Ok(()), start), (Found::Away, Found::Writable));
    }
}
