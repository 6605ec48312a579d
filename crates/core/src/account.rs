//! The share of an account, as a type that is legal once it exists.

use crate::destination::{OutOfRange, ranged};
use crate::limits::WEIGHT_MAX;

/// How large an account's share is beside the others: twice the weight, twice the slots under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(u32);

impl Weight {
    /// Checks the range.
    pub fn new(value: u64) -> Result<Self, OutOfRange> {
        ranged(value, 1, WEIGHT_MAX).map(Weight)
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Weight(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_outside_its_range_does_not_exist() {
        for bad in [0, u64::from(WEIGHT_MAX) + 1, u64::MAX] {
            assert_eq!(Weight::new(bad), Err(OutOfRange { min: 1, max: WEIGHT_MAX }));
        }
        assert_eq!(Weight::default(), Weight::new(1).unwrap());
    }
}
