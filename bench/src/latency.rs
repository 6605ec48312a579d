//! Latencies in microseconds, three digits exact, in memory that does not grow with their number.

use hdrhistogram::Histogram;

/// An hour; what takes longer counts as an hour.
const LATENCY_US_MAX: u64 = 3_600_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Latency(Histogram<u64>);

impl Latency {
    pub(crate) fn new() -> Latency {
        Latency(Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("the bounds are constants and legal"))
    }

    pub(crate) fn record_ns(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds / 1000);
    }

    pub(crate) fn add(&mut self, other: &Latency) {
        self.0.add(&other.0).expect("all histograms have the same bounds");
    }

    pub(crate) fn p50_us(&self) -> u64 {
        self.0.value_at_quantile(0.50)
    }

    pub(crate) fn p99_us(&self) -> u64 {
        self.0.value_at_quantile(0.99)
    }

    pub(crate) fn max_us(&self) -> u64 {
        self.0.max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_everything_recorded_and_added() {
        let (mut low, mut high) = (Latency::new(), Latency::new());
        (1..=98).for_each(|us| low.record_ns(us * 1000));
        high.record_ns(500_000);
        high.record_ns(u64::MAX);
        low.add(&high);
        assert_eq!(low.p50_us(), 50);
        assert_eq!(low.p99_us(), 500);
        // Three digits: the cell that holds an hour ends a little above it.
        assert!(low.max_us().abs_diff(LATENCY_US_MAX) < LATENCY_US_MAX / 1000);
    }
}
