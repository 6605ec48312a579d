//! One figure over several rounds: its median, and how far the rounds are apart.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// `None` where there is nothing to take a median of.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Spread { median: f64::midpoint(low, high), min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middles() {
        let cases: [(&[f64], f64, f64, f64); 3] = [
            (&[3.0], 3.0, 3.0, 3.0),
            (&[9.0, 1.0, 2.0], 2.0, 1.0, 9.0),
            (&[4.0, 1.0, 3.0, 2.0], 2.5, 1.0, 4.0),
        ];
        for (values, median, min, max) in cases {
            assert_eq!(Spread::of(values.iter().copied()), Some(Spread { median, min, max }));
        }
        assert_eq!(Spread::of([]), None);
    }
}
