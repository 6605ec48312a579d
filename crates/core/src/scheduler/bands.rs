//! Which band of a destination has its turn: the one whose slot it is, and now and then a less urgent one, so that a receiver
//! whose concurrency or rate is used up by the urgent gets the others too. Floors do not see to that: they are of all slots.

use crate::delivery::Priority;

/// Of so many sends while a less urgent band waits, one is of that band.
const SHARE: u8 = 16;

/// How often the less urgent bands were passed over since their last turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BandTurns([u8; Priority::COUNT]);

impl BandTurns {
    /// Chooses the band to which a slot of `band` goes; `may_go` says which others could have it.
    pub(super) fn choose(&self, band: Priority, may_go: impl Fn(Priority) -> bool) -> Priority {
        let passed = |less: &Priority| self.0[less.index()] + 1 >= SHARE;
        let mut less_urgent = Priority::ALL.into_iter().filter(|less| *less > band);
        less_urgent.find(|less| passed(less) && may_go(*less)).unwrap_or(band)
    }

    /// Notes who was passed over by a send.
    pub(super) fn sent(&mut self, band: Priority, due: [bool; Priority::COUNT]) {
        for less in Priority::ALL.into_iter().filter(|less| *less >= band) {
            let passed = &mut self.0[less.index()];
            *passed = if less > band && due[less.index()] { passed.saturating_add(1).min(SHARE) } else { 0 };
        }
    }
}
