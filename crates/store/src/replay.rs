//! A job that makes dead letters owed again, as it is kept so that a restart goes on with it.

use crate::dead_letter_filter::DeadLetterFilter;
use postrider_core::id::{AccountId, ReplayId};
use postrider_core::time::Timestamp;

/// A job over the dead letters that there were when it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Its id.
    pub id: ReplayId,
    /// Whose it is.
    pub account: AccountId,
    /// Which dead letters.
    pub filter: DeadLetterFilter,
    /// How many are made owed in a second; as fast as it goes when `None`.
    pub rate_per_second: Option<f64>,
    /// Where it stands.
    pub state: ReplayState,
    /// Dead letters that there were when it was made.
    pub total: u64,
    /// Made owed again.
    pub done: u64,
    /// Left alone: the destination is gone, or somebody else replayed or discarded it first.
    pub skipped: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When anything of it changed last.
    pub updated_at: Timestamp,
    /// When it was done or cancelled.
    pub ended_at: Option<Timestamp>,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayState {
    /// It goes on, after a restart too.
    Running,
    /// It waits to be told to go on.
    Paused,
    /// All of it was looked at.
    Done,
    /// It was told to end.
    Cancelled,
}

impl ReplayState {
    /// All of them.
    pub const ALL: [ReplayState; 4] =
        [ReplayState::Running, ReplayState::Paused, ReplayState::Done, ReplayState::Cancelled];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReplayState::Running => "running",
            ReplayState::Paused => "paused",
            ReplayState::Done => "done",
            ReplayState::Cancelled => "cancelled",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Nothing follows any more.
    pub const fn is_final(self) -> bool {
        matches!(self, ReplayState::Done | ReplayState::Cancelled)
    }
}
