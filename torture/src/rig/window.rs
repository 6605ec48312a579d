//! From when until when: of an attempt, of a fault, and whether the one may have cut the other off.

use std::time::Duration;

/// After its answer was written, an attempt may take this long to be recorded.
///
/// Its answer is read, and its outcome goes into the next commit, so two commits are the most that it waits for. Who is
/// frozen, or waits for a database that hangs, waits for longer, but then the fault itself lasts as long. What kills left
/// unrecorded had been answered 15 ms before them at most; 158 ms on two cores with four more threads that spin and two
/// that write and sync without pause. This is three times that.
pub const RECORDED_LATE: Duration = Duration::from_millis(500);

/// A stretch of time with both of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window<T> {
    /// Not before this.
    pub from: T,
    /// Not after this.
    pub until: T,
}

impl<T: PartialOrd> Window<T> {
    /// Whether there is a moment that is in both.
    pub fn touches(&self, other: &Window<T>) -> bool {
        self.from <= other.until && other.from <= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_touch_when_they_share_a_moment() {
        let fault = Window { from: 5, until: 7 };
        for (from, until, touches) in [(0, 4, false), (0, 5, true), (6, 6, true), (7, 9, true), (8, 9, false)]
        {
            assert_eq!(Window { from, until }.touches(&fault), touches, "{from} to {until}");
            assert_eq!(fault.touches(&Window { from, until }), touches, "{from} to {until}");
        }
    }
}
