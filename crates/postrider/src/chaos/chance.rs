//! Chance that can be repeated: splitmix64, whose every seed is a good one.

use anyhow::Context as _;

pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A seed that nobody chose, short enough to be typed again.
pub(super) fn by_chance() -> anyhow::Result<u64> {
    Ok(getrandom::u64().context("ask the system for chance")? >> 32)
}
