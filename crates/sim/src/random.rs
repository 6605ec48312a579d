//! The one source of chance: splitmix64, so that a world follows from its seed.

use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        let span = u128::from(most - least) + 1;
        least + ((u128::from(self.bits()) * span) >> 64) as u64
    }

    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let last = from.len().checked_sub(1)?;
        Some(from[self.between(0, last as u64) as usize])
    }

    pub(crate) fn ms(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.between(least, most))
    }

    /// Mostly a moment, now and then seconds.
    pub(crate) fn moment(&mut self) -> Duration {
        match self.between(0, 19) {
            0..10 => Duration::ZERO,
            10..18 => self.ms(1, 20),
            18 => self.ms(20, 500),
            _ => self.ms(500, 10_000),
        }
    }
}
