//! Pauses between tries of something that fails: they double up to a bound, and each is cut by chance, so that those who
//! failed together do not try again together.

use crate::retry::Chance;
use std::time::Duration;

/// How long to wait before each next try.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Pauses {
    /// From the first up to the longest.
    pub fn new(first: Duration, most: Duration) -> Self {
        assert!(first <= most, "pauses grow");
        Pauses { first, most, next: first }
    }

    /// The next one: at least half of what has been reached, and at most all of it.
    pub fn next(&mut self, chance: Chance) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(self.most);
        whole / 2 + chance.up_to(whole / 2)
    }

    /// It worked: after the next failure they begin with the first again.
    pub fn begin_anew(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Chance = Chance::new(u64::MAX);
    const SHORTEST: Chance = Chance::new(0);

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn pauses_double_up_to_their_bound_and_begin_anew_when_it_worked() {
        let mut pauses = Pauses::new(ms(100), ms(500));
        let four: Vec<Duration> = (0..4).map(|_| pauses.next(LONGEST)).collect();
        assert_eq!(four, [ms(100), ms(200), ms(400), ms(500)]);
        pauses.begin_anew();
        assert_eq!(pauses.next(LONGEST), ms(100));
    }

    #[test]
    fn chance_takes_up_to_half_of_a_pause() {
        let mut pauses = Pauses::new(ms(100), ms(100));
        assert_eq!(pauses.next(SHORTEST), ms(50));
        assert_eq!(pauses.next(Chance::new(u64::MAX / 2)), ms(75));
        assert_eq!(pauses.next(LONGEST), ms(100));
    }
}
