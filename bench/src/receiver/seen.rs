//! Which sequence numbers have come: one bit each, to tell a duplicate from a new event.

use crate::event::EVENTS_MAX;

#[derive(Debug, Default)]
pub(crate) struct Seen(Vec<u64>);

impl Seen {
    /// True where the number comes for the first time. Numbers no load sends are never new.
    pub(crate) fn insert(&mut self, seq: u64) -> bool {
        if seq >= EVENTS_MAX {
            return false;
        }
        let (word, bit) = (usize::try_from(seq / 64).expect("below EVENTS_MAX"), 1 << (seq % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once_in_any_order() {
        let mut seen = Seen::default();
        for seq in [700, 0, 63, 64, EVENTS_MAX - 1] {
            assert!(seen.insert(seq), "{seq}");
            assert!(!seen.insert(seq), "{seq} again");
        }
        assert!(!seen.insert(EVENTS_MAX));
    }
}
