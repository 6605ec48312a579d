//! What comes next: all there is to do in an order that chance chose, then all again in another.

use crate::rig::random::Random;

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

#[cfg(test)]
mod tests {
    use super::*;

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
