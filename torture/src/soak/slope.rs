//! Whether memory grows: the slope of resident memory within the lives of processes.

use super::Sample;
use crate::history::{Moment, SECOND};
use std::collections::BTreeMap;

/// A process that has just begun grows into its size.
const WARM_UP: Moment = 30 * SECOND;

/// The least squares over all lives, each around its own middle, so that a death does not look like memory that was given
/// back. Nothing when no life was long enough.
pub fn mebibytes_per_hour(samples: &[Sample]) -> Option<f64> {
    let (mut covariance, mut variance) = (0.0, 0.0);
    for points in lives(samples).values() {
        let count = points.len() as f64;
        let middle = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (time, bytes) = (middle(|point| point.0), middle(|point| point.1));
        for (at, size) in points {
            covariance += (at - time) * (size - bytes);
            variance += (at - time) * (at - time);
        }
    }
    (variance > 0.0).then(|| covariance / variance)
}

/// How long there was something to see.
pub(super) fn hours(samples: &[Sample]) -> f64 {
    let lives = lives(samples);
    let length = |points: &Vec<(f64, f64)>| Some(points.last()?.0 - points.first()?.0);
    lives.values().filter_map(length).sum()
}

/// By process: hours and mebibytes, without the warm-up.
fn lives(samples: &[Sample]) -> BTreeMap<u32, Vec<(f64, f64)>> {
    let mut begun: BTreeMap<u32, Moment> = BTreeMap::new();
    let mut lives: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for sample in samples {
        for usage in sample.nodes.iter().flatten() {
            let first = *begun.entry(usage.process).or_insert(sample.at);
            if sample.at - first >= WARM_UP {
                let hours = sample.at as f64 / (3600 * SECOND) as f64;
                let mebibytes = usage.resident_bytes as f64 / f64::from(1 << 20);
                lives.entry(usage.process).or_default().push((hours, mebibytes));
            }
        }
    }
    lives
}

#[cfg(test)]
mod tests {
    use super::super::Usage;
    use super::*;

    fn sample(second: u64, process: u32, mebibytes: u64) -> Sample {
        let usage = Usage { process, resident_bytes: mebibytes << 20, descriptors: 0 };
        Sample { at: second * SECOND, nodes: vec![Some(usage)], store_bytes: 0, in_flight: 0, arrived: 0 }
    }

    #[test]
    fn growth_is_seen_within_lives_and_a_death_is_no_loss() {
        // A mebibyte a minute in two lives, of which the second begins small again.
        let first = (0..10).map(|minute| sample(minute * 60, 1, 100 + minute));
        let second = (0..10).map(|minute| sample(600 + minute * 60, 2, 100 + minute));
        let samples: Vec<Sample> = first.chain(second).collect();
        let slope = mebibytes_per_hour(&samples).unwrap();
        assert!((slope - 60.0).abs() < 0.01, "{slope}");
    }

    #[test]
    fn lives_that_are_too_short_say_nothing() {
        let samples: Vec<Sample> = (0..20).map(|second| sample(second, second as u32, 100)).collect();
        assert_eq!(mebibytes_per_hour(&samples), None);
    }
}
