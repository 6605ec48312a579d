//! How the healthy destination fared: how long events took to it beside the others, and to one like it that is alone on
//! a gateway of its own at the same time.

use super::site::TIMEOUT_SECONDS;
use serde_json::{Value, json};

/// Beside the others it may take so many times as long: the bound that isolation is promised by.
const TIMES: f64 = 2.0;
/// And so much more, for machines that are so fast that twice is nothing: of a thousand events the 99th percentile is the
/// tenth from the top, and ten times in a run one of two processes may wait for its turn and the other not. Where all are
/// slow the first bound is enough: eight runs on two cores under a load of 8 to 15 gave 32 to 125 ms beside the others and
/// 43 to 106 ms alone, at most 1.22 times as long.
const NOISE_MS: f64 = 25.0;
/// What is looked for is not in the noise: who waits behind the one that hangs waits for its timeout.
const _: () = assert!(NOISE_MS * 50.0 <= (TIMEOUT_SECONDS * 1000) as f64);

/// The 99th percentiles, in milliseconds; none where there were no events.
#[derive(Clone, Copy)]
pub(super) struct Healthy {
    alone_ms: Option<f64>,
    together_ms: Option<f64>,
}

impl Healthy {
    /// By how long each event took.
    pub(super) fn of(alone: Vec<f64>, together: Vec<f64>) -> Healthy {
        Healthy { alone_ms: p99(alone), together_ms: p99(together) }
    }

    pub(super) fn json(&self) -> Value {
        json!({ "alone": self.alone_ms, "together": self.together_ms, "unaffected_up_to": self.bound_ms() })
    }

    /// Whether it did not wait for the others; unknown when there is nothing to compare.
    pub(super) fn is_unaffected(&self) -> Option<bool> {
        Some(self.together_ms? <= self.bound_ms()?)
    }

    fn bound_ms(&self) -> Option<f64> {
        Some(hundredths(TIMES * self.alone_ms? + NOISE_MS))
    }

    pub(super) fn text(&self) -> String {
        let told = |ms: Option<f64>| ms.map_or("unknown".to_owned(), |ms| format!("{ms} ms"));
        let verdict = match (self.is_unaffected(), self.bound_ms()) {
            (Some(true), Some(bound)) => format!("so it is unaffected by them (at most {bound} ms)"),
            (Some(false), Some(bound)) => format!("so it is affected by them (more than {bound} ms)"),
            _ => "which is too little to compare".to_owned(),
        };
        let (alone, together) = (told(self.alone_ms), told(self.together_ms));
        format!(
            "healthy: p99 {together} beside one that is slow, one flaky, one hanging and one down; {alone} alone, on a \
             second gateway at the same time, {verdict}"
        )
    }
}

fn p99(mut took: Vec<f64>) -> Option<f64> {
    took.sort_by(f64::total_cmp);
    let at = (took.len() * 99).div_ceil(100).saturating_sub(1);
    took.get(at).copied().map(hundredths)
}

fn hundredths(ms: f64) -> f64 {
    (ms * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninety_ninth_of_a_hundred() {
        assert_eq!(p99((1..=100).map(f64::from).collect()), Some(99.0));
        assert_eq!(p99(vec![7.001]), Some(7.0));
        assert_eq!(p99(Vec::new()), None);
    }

    #[test]
    fn waiting_behind_the_one_that_hangs_is_being_affected() {
        let hung = TIMEOUT_SECONDS as f64 * 1000.0;
        for (alone, together, expected) in [
            (vec![8.0], vec![9.0], Some(true)),
            (vec![8.0], vec![16.0 + NOISE_MS], Some(true)),
            (vec![8.0], vec![16.1 + NOISE_MS], Some(false)),
            (vec![8.0], vec![hung], Some(false)),
            (vec![400.0], vec![800.0], Some(true)),
            (vec![400.0], vec![900.0], Some(false)),
            (vec![8.0], vec![], None),
            (vec![], vec![9.0], None),
        ] {
            let healthy = Healthy::of(alone, together);
            assert_eq!(healthy.is_unaffected(), expected, "{}", healthy.text());
        }
    }
}
