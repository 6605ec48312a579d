//! Chance with a seed: the same seed makes the same moments and the same choices.

use std::time::{Duration, SystemTime};

/// Replays a run: set it to the seed that a failing test printed.
const SEED_VARIABLE: &str = "POSTRIDER_TEST_SEED";

/// SplitMix64, by Sebastiano Vigna.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// For a test: from the environment, or new; printed either way.
    pub fn new(test: &str) -> Self {
        let given = std::env::var(SEED_VARIABLE).ok();
        let seed = match given {
            Some(text) => {
                text.parse().unwrap_or_else(|_| panic!("{SEED_VARIABLE} must be a number: {text:?}"))
            }
            None => fresh_seed(),
        };
        println!("{test}: {SEED_VARIABLE}={seed}");
        Random(seed)
    }

    /// The chance of this seed.
    pub fn seeded(seed: u64) -> Self {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Evenly spread over `0..end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Evenly spread over `least..most`.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = (most - least).as_micros() as u64;
        least + Duration::from_micros(self.bits() % span)
    }
}

/// One that no run had before.
pub fn fresh_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |elapsed| elapsed.as_micros() as u64)
}
