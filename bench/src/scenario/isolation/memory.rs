//! Memory of the gateway while something else goes on: sampled, and judged by whether it still grows.

use crate::procfs::rss_bytes;
use crate::units::float;
use crate::verdict::ratio;
use std::future::Future;
use std::time::Duration;

const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// An hour of samples.
const SAMPLES_MAX: usize = 36_000;

#[derive(Debug, Default)]
pub(super) struct Samples(Vec<u64>);

/// Samples until the work is done.
pub(super) async fn watch<T>(
    pid: u32,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(T, Samples)> {
    let mut samples = Samples::default();
    tokio::pin!(work);
    loop {
        if samples.0.len() < SAMPLES_MAX {
            samples.0.push(rss_bytes(pid)?);
        }
        tokio::select! {
            done = &mut work => return Ok((done?, samples)),
            () = tokio::time::sleep(SAMPLE_INTERVAL) => {}
        }
    }
}

impl Samples {
    pub(super) fn max_bytes(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }

    /// The most in the second half by the most in the first. What caches fill up with comes in the first.
    pub(super) fn growth(&self) -> f64 {
        let (first, second) = self.0.split_at(self.0.len() / 2);
        let most = |half: &[u64]| half.iter().copied().max();
        match (most(first), most(second)) {
            (Some(first), Some(second)) => ratio(float(second), float(first)),
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_the_second_half_by_the_first() {
        for (samples, growth) in
            [(vec![10, 40, 40, 44], 1.1), (vec![40, 30, 20], 0.75), (vec![7], 1.0), (vec![], 1.0)]
        {
            let measured = Samples(samples.clone()).growth();
            assert!((measured - growth).abs() < 1e-9, "{samples:?}: {measured}");
        }
        assert_eq!(Samples(vec![3, 9, 5]).max_bytes(), 9);
    }

    #[test]
    fn work_is_watched_to_its_end_and_its_failure_is_passed_on() {
        crate::http::runtime().expect("a runtime").block_on(async {
            let (done, samples) = watch(std::process::id(), async { Ok(7) }).await.expect("it is alive");
            assert_eq!(done, 7);
            assert!(samples.max_bytes() > 0);
            assert!(
                watch(std::process::id(), async { anyhow::bail!("no") as anyhow::Result<()> }).await.is_err()
            );
        });
    }
}
