//! Counts of what was measured, by size.

use super::Counter;
use postrider_store::LATENCY_BOUNDS_MS;
use std::time::Duration;

const MICROSECONDS: u64 = 1_000_000;
/// In microseconds. From what a local receiver takes to what a retry of hours ends with; the rings of the store count by
/// the same.
const TIMES: [u64; LATENCY_BOUNDS_MS.len()] = in_microseconds(LATENCY_BOUNDS_MS);
const COUNTS: &[u64] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

const fn in_microseconds<const N: usize>(mut bounds: [u64; N]) -> [u64; N] {
    let mut index = 0;
    while index < N {
        bounds[index] *= 1000;
        index += 1;
    }
    bounds
}

/// How many were at most so large.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// What one is of the unit that is shown.
    unit: u64,
    /// One more than bounds: those above all of them.
    buckets: Box<[Counter]>,
    sum: Counter,
}

/// A histogram as it was at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramView {
    /// How many were at most so large, and how large. They add up.
    pub buckets: Vec<(f64, u64)>,
    /// How many there were.
    pub count: u64,
    /// All of them together.
    pub sum: f64,
}

impl Default for Histogram {
    /// Of durations, shown in seconds.
    fn default() -> Self {
        Histogram::new(&TIMES, MICROSECONDS)
    }
}

impl Histogram {
    pub(super) fn of_counts() -> Self {
        Histogram::new(COUNTS, 1)
    }

    fn new(bounds: &'static [u64], unit: u64) -> Self {
        let buckets = (0..=bounds.len()).map(|_| Counter::default()).collect();
        Histogram { bounds, unit, buckets, sum: Counter::default() }
    }

    pub(crate) fn note(&self, duration: Duration) {
        self.note_count(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn note_count(&self, value: u64) {
        let index = self.bounds.partition_point(|bound| *bound < value);
        self.buckets[index].add(1);
        self.sum.add(usize::try_from(value).unwrap_or(usize::MAX));
    }

    /// The counts between the bounds, and above the last.
    pub(crate) fn counts<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|index| self.buckets.get(index).map_or(0, Counter::get))
    }

    /// As it is now. What is counted meanwhile may be in it in part.
    pub fn view(&self) -> HistogramView {
        let unit = self.unit as f64;
        let mut count = 0;
        let mut buckets = Vec::with_capacity(self.bounds.len());
        for (bound, bucket) in self.bounds.iter().zip(&self.buckets) {
            count += bucket.get();
            buckets.push((*bound as f64 / unit, count));
        }
        count += self.buckets[self.bounds.len()].get();
        HistogramView { buckets, count, sum: self.sum.get() as f64 / unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_holds_all_that_are_no_larger() {
        let sizes = Histogram::of_counts();
        [1, 2, 3, 5, 6000].into_iter().for_each(|size| sizes.note_count(size));
        let view = sizes.view();
        assert_eq!(view.buckets[..4], [(1.0, 1), (2.0, 2), (5.0, 4), (10.0, 4)]);
        assert_eq!((view.buckets.last(), view.count, view.sum), (Some(&(5000.0, 4)), 5, 6011.0));
        let times = Histogram::default();
        times.note(Duration::from_millis(1));
        times.note(Duration::from_secs(3));
        let view = times.view();
        assert_eq!((view.buckets[0], view.count), ((0.001, 1), 2));
        assert!((view.sum - 3.001).abs() < 1e-9);
    }
}
