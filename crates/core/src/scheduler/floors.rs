//! How slots are shared out between the priority bands: each band has a floor that the others never take.

use crate::delivery::Priority;

/// Slots that a band may always have, the most urgent first. What a band does not use of its floor is out of reach of
/// all others, so that it finds a slot however long they keep theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floors([u32; Priority::COUNT]);

/// From so many slots on each band has a floor by default. With fewer it would be a great share of them: one slot is
/// kept for critical deliveries, and the less urgent get some of the turns instead.
pub(super) const FLOORS_FROM_SLOTS: u32 = 8;

impl Floors {
    /// Nothing is kept for anybody.
    pub const NONE: Floors = Floors([0; Priority::COUNT]);

    /// Checks that they fit into the slots together, and that a band without a floor finds a slot beside them.
    pub fn new(floors: [u32; Priority::COUNT], slots: u32) -> Option<Self> {
        let sum: u64 = floors.iter().copied().map(u64::from).sum();
        let needed = sum + u64::from(floors.contains(&0));
        (needed <= u64::from(slots)).then_some(Floors(floors))
    }

    /// A sixteenth for each, and for bulk half of that, at least one each; with few slots one for critical alone.
    pub fn of_slots(slots: u32) -> Self {
        let share = |part: u32| (slots / part).max(1);
        match slots {
            0..2 => Floors::NONE,
            2..FLOORS_FROM_SLOTS => Floors([1, 0, 0, 0]),
            _ => Floors([share(16), share(16), share(16), share(32)]),
        }
    }

    /// Of a band.
    pub const fn of(self, band: Priority) -> u32 {
        self.0[band.index()]
    }

    /// Slots that an account without a cap may have in flight while there are others: three quarters, and in no band
    /// all that are open to it, where these are four or more.
    pub(super) fn account_cap(self, slots: u32) -> u32 {
        let least_floor = self.0.into_iter().min().unwrap_or(0);
        let open = slots - self.0.iter().sum::<u32>() + least_floor;
        (slots - slots / 4).min(open - u32::from(open >= 4)).max(1)
    }

    /// Slots open to a band when so many are free and each band has so many in flight: all but what the others do not
    /// use of their floors. Below its own floor it yields only to the more urgent, which counts after floors were raised.
    pub(super) fn open(self, band: Priority, free: u32, in_flight: [u32; Priority::COUNT]) -> u32 {
        let unused = |of: Priority| self.of(of).saturating_sub(in_flight[of.index()]);
        let others = Priority::ALL.into_iter().filter(|other| *other != band).map(unused).sum();
        let urgent = Priority::ALL.into_iter().take_while(|urgent| *urgent < band).map(unused).sum();
        free.saturating_sub(others).max(free.saturating_sub(urgent).min(unused(band)))
    }
}
