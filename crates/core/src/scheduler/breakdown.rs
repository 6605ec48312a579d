//! How much is owed, told apart by priority and lane.

use crate::delivery::{Lane, Priority};

/// Deliveries of one destination by priority and lane. It adds up to what the destination is owed; what ended before it
/// was told of is less than none until it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Breakdown([[i32; Lane::COUNT]; Priority::COUNT]);

impl Breakdown {
    pub(super) fn add(&mut self, priority: Priority, lane: Lane, rows: u64) {
        let cell = &mut self.0[priority.index()][lane.index()];
        *cell = cell.saturating_add(i32::try_from(rows).unwrap_or(i32::MAX));
    }

    /// Takes so many away. What an earlier run left of an ordered lane, and heads that blocked one, come without their
    /// priorities, so what is missing in a cell is taken from the others of its lane.
    pub(super) fn subtract(&mut self, priority: Priority, lane: Lane, rows: u64) {
        let mut left = i32::try_from(rows).unwrap_or(i32::MAX);
        for priority in std::iter::once(priority).chain(Priority::ALL) {
            let cell = &mut self.0[priority.index()][lane.index()];
            let taken = left.min((*cell).max(0));
            *cell -= taken;
            left -= taken;
        }
        let cell = &mut self.0[priority.index()][lane.index()];
        *cell = cell.saturating_sub(left);
    }

    /// What is owed of a priority in a lane.
    pub(super) fn rows(&self, priority: Priority, lane: Lane) -> u64 {
        u64::try_from(self.0[priority.index()][lane.index()]).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::OrderKey;

    #[test]
    fn what_is_missing_in_a_cell_is_taken_from_its_lane() {
        let (ordered, mut owed) = (Lane::Ordered(OrderKey::WHOLE), Breakdown::default());
        owed.add(Priority::Normal, ordered, 3);
        owed.add(Priority::Bulk, ordered, 1);
        owed.add(Priority::Normal, Lane::Fresh, 5);
        owed.subtract(Priority::Critical, ordered, 2);
        assert_eq!([Priority::Normal, Priority::Bulk].map(|of| owed.rows(of, ordered)), [1, 1]);
        owed.subtract(Priority::Critical, ordered, 9);
        assert_eq!([Priority::Normal, Priority::Bulk].map(|of| owed.rows(of, ordered)), [0, 0]);
        assert_eq!(owed.rows(Priority::Normal, Lane::Fresh), 5);
    }
}
