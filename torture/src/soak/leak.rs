//! Whether a soak shows a leak: memory that keeps growing within lives, or more descriptors than the load can explain.

use super::slope::{hours, mebibytes_per_hour};
use super::{Sample, Usage};

/// A mebibyte in a minute. What caches and the allocator do in lives of some minutes came to less than a tenth of it; 300
/// bytes kept of each event of the suite's load are more.
const MEBIBYTES_PER_HOUR_MAX: f64 = 60.0;
/// Less than this says nothing about an hour.
const HOURS_MIN: f64 = 0.1;
/// Producers, attempts at once to all destinations, sessions of the database and files of the store come to about 100.
const DESCRIPTORS_MAX: usize = 300;

/// What is wrong, one sentence each.
pub fn leaks(samples: &[Sample]) -> Vec<String> {
    memory(samples).into_iter().chain(descriptors(samples)).collect()
}

fn memory(samples: &[Sample]) -> Option<String> {
    let slope = mebibytes_per_hour(samples).filter(|_| hours(samples) >= HOURS_MIN)?;
    (slope > MEBIBYTES_PER_HOUR_MAX).then(|| {
        format!(
            "leak: memory grew by {slope:.0} MiB an hour within lives, of {MEBIBYTES_PER_HOUR_MAX} at most"
        )
    })
}

fn descriptors(samples: &[Sample]) -> Option<String> {
    let usages = samples.iter().flat_map(|sample| sample.nodes.iter().flatten());
    let Usage { process, descriptors, .. } = usages.max_by_key(|usage| usage.descriptors)?;
    (*descriptors > DESCRIPTORS_MAX).then(|| {
        format!("leak: process {process} had {descriptors} descriptors, of {DESCRIPTORS_MAX} at most")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::SECOND;

    /// A sample each second of two lives, ten minutes each: what memory and descriptors are so many seconds into them.
    fn run(usage: fn(u64) -> (f64, usize)) -> Vec<Sample> {
        let sample = |second: u64| {
            let (mebibytes, descriptors) = usage(second % 600);
            let resident_bytes = (mebibytes * f64::from(1 << 20)) as u64;
            let usage = Usage { process: 7 + (second / 600) as u32, resident_bytes, descriptors };
            Sample { at: second * SECOND, nodes: vec![Some(usage)], store_bytes: 0, in_flight: 0, arrived: 0 }
        };
        (0..1200).map(sample).collect()
    }

    fn check(samples: &[Sample], expected: &[&str]) {
        assert_eq!(leaks(samples), expected);
    }

    #[test]
    fn a_process_that_stays_as_it_is_leaks_nothing() {
        check(&run(|_| (60.0, 90)), &[]);
        // It grows into its size, swings, and has bursts of connections.
        let lively =
            |second: u64| (60.0 + (second.min(30) + second % 7) as f64, 40 + (second % 50) as usize * 5);
        check(&run(lively), &[]);
    }

    #[test]
    fn memory_that_grows_all_the_time_is_a_leak() {
        let leaky = run(|second| (60.0 + second as f64 / 40.0, 90));
        check(&leaky, &["leak: memory grew by 90 MiB an hour within lives, of 60 at most"]);
        check(&leaky[..90], &[]);
    }

    #[test]
    fn descriptors_that_are_not_given_back_are_a_leak() {
        let leaky = run(|second| (60.0, 90 + second as usize));
        check(&leaky, &["leak: process 8 had 689 descriptors, of 300 at most"]);
    }
}
