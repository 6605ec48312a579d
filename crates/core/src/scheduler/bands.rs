//! Which band of a destination has its turn: the one whose slot it is, and now and then a less urgent one, so that a receiver
//! whose concurrency or rate is used up by the urgent gets the others too. Floors do not see to that: they are of all slots.

use crate::delivery::Priority;
use std::cmp::Reverse;

/// While a less urgent band waits, one of so many sends is of it.
const SHARE: u8 = 16;
/// Who found no slot open when its turn came makes up for it, but not for more than one turn.
const PASSED_MAX: u8 = 2 * SHARE - 1;

/// How often each band was passed over since its last turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BandTurns([u8; Priority::COUNT]);

impl BandTurns {
    /// Chooses the band to which a slot of `band` goes; `may_go` says which others could have it. Where several would be
    /// due in the same turn the first goes early, so that none is late.
    pub(super) fn choose(&self, band: Priority, may_go: impl Fn(Priority) -> bool) -> Priority {
        let waits = Priority::ALL.map(|less| less > band && may_go(less));
        let waiting = || Priority::ALL.into_iter().filter(|less| waits[less.index()]);
        let passed = |less: Priority| self.0[less.index()];
        let up_to = |less: Priority| waiting().filter(|other| passed(*other) >= passed(less)).count();
        let is_time = waiting().any(|less| usize::from(passed(less)) + up_to(less) >= usize::from(SHARE));
        let first = waiting().max_by_key(|less| (passed(*less), Reverse(*less)));
        first.filter(|_| is_time).unwrap_or(band)
    }

    /// Notes who was passed over by a send.
    pub(super) fn sent(&mut self, band: Priority, due: [bool; Priority::COUNT]) {
        for (other, passed) in Priority::ALL.into_iter().zip(&mut self.0) {
            *passed = match due[other.index()] {
                _ if other == band => passed.saturating_sub(SHARE - 1),
                true => (*passed + 1).min(PASSED_MAX),
                false => 0,
            };
        }
    }
}
