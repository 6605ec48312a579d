//! Chance with a seed: the same seed makes the same moments and the same choices.

use std::time::{Duration, SystemTime};

/// Replays a run: set it to the seed that a failing test printed.
const SEED_VARIABLE: &str = "POSTRIDER_TEST_SEED";

pub(crate) struct Random(u64);

impl Random {
    /// From the environment, or new; printed either way.
    pub(crate) fn new(test: &str) -> Self {
        let given = std::env::var(SEED_VARIABLE).ok();
        let seed = match given {
            Some(text) => {
                text.parse().unwrap_or_else(|_| panic!("{SEED_VARIABLE} must be a number: {text:?}"))
            }
            None => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros() as u64,
        };
        println!("{test}: {SEED_VARIABLE}={seed}");
        Random(seed)
    }

    /// SplitMix64, by Sebastiano Vigna.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Evenly spread over `least..most`.
    pub(crate) fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = (most - least).as_micros() as u64;
        least + Duration::from_micros(self.next() % span)
    }

    /// One of `0..count`.
    pub(crate) fn one_of(&mut self, count: u64) -> u64 {
        self.next() % count
    }
}
