//! What comes next: all there is to do in an order that chance chose, then all again in another.

use crate::fleet::{LEASE, READY};
use crate::rig::random::Random;
use std::time::Duration;

/// A deck that is shuffled anew whenever it is empty, so that even a short run sees much of it.
pub(super) struct Deck<T> {
    all: Vec<T>,
    left: Vec<T>,
}

impl<T: Clone> Deck<T> {
    pub(super) fn of(all: &[T]) -> Self {
        assert!(!all.is_empty(), "there is something to do");
        Deck { all: all.to_vec(), left: Vec::new() }
    }

    pub(super) fn draw(&mut self, random: &mut Random) -> T {
        if self.left.is_empty() {
            self.left.clone_from(&self.all);
        }
        let at = random.below(self.left.len());
        self.left.swap_remove(at)
    }
}

/// A blow of a green run takes no longer: one after which not all nodes are ready in time makes the run red.
pub(super) const BLOW: Duration = Duration::from_secs(2 * LEASE.as_secs() + READY.as_secs());

/// A run is no calmer than this, however few kinds of blow there are.
const REST_MAX: Duration = Duration::from_secs(300);
/// As between the blows of a run that is not a soak, where there is no time for more.
const REST_MIN: Duration = Duration::from_secs(5);
/// So old every process grows, where there is time for it: warm, and long enough to see it grow.
const PEACE: Duration = Duration::from_secs(60);

/// The least and the most between two blows, so that a whole deck of so many kinds is dealt within the run.
pub(super) fn seldom(duration: Duration, kinds: usize) -> [Duration; 2] {
    let share = duration / u32::try_from(kinds).expect("a few kinds");
    let most = share.saturating_sub(BLOW).clamp(REST_MIN, REST_MAX);
    [PEACE.min(most / 2), most]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_grow_old_in_a_soak_and_a_short_one_has_its_blows_too() {
        let seconds =
            |run: u64, kinds: usize| seldom(Duration::from_secs(run), kinds).map(|rest| rest.as_secs());
        assert_eq!(seconds(1800, 10), [57, 114]);
        assert_eq!(seconds(1800, 4), [60, 300]);
        assert_eq!(seconds(900, 10), [12, 24]);
        assert_eq!(seconds(1, 10), [2, 5]);
    }

    #[test]
    fn everything_comes_once_before_anything_comes_twice_and_a_seed_repeats_it() {
        let drawn = |seed: u64| {
            let (mut deck, mut random) = (Deck::of(&[1, 2, 3, 4]), Random::seeded(seed));
            (0..8).map(|_| deck.draw(&mut random)).collect::<Vec<_>>()
        };
        let mut first = drawn(7)[..4].to_vec();
        first.sort_unstable();
        assert_eq!(first, [1, 2, 3, 4]);
        assert_eq!(drawn(7), drawn(7));
        assert!((0..20).any(|seed| drawn(seed) != drawn(7)));
    }
}
