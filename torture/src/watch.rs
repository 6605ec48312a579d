//! The clock of a run.

use crate::history::Moment;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

/// Begins with the run; all parts read the same one.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Instant);

impl Watch {
    /// Now is moment 0.
    pub fn start() -> Self {
        Watch(Instant::now())
    }

    /// Since the run began.
    pub fn now(self) -> Moment {
        self.0.elapsed().as_micros() as Moment
    }
}

/// What bytes are known by in a history.
pub fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
