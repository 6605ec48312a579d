//! What the settings of a destination come to, in sentences.

use super::Destination;
use crate::dashboard::show;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Retry {
    delays_seconds: Option<Vec<f64>>,
    base_seconds: Option<f64>,
    factor: Option<f64>,
    cap_seconds: Option<f64>,
    max_attempts: Option<u32>,
    max_age_seconds: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Circuit {
    pub(super) threshold: Option<u32>,
    pub(super) failure_percent: Option<u32>,
    pub(super) window_attempts: Option<u32>,
    pub(super) window_seconds: Option<u32>,
    pub(super) cooldown_seconds: f64,
    pub(super) cooldown_max_seconds: f64,
}

impl Circuit {
    fn opens_in_words(&self) -> String {
        match (self.threshold, self.failure_percent, self.window_attempts) {
            (Some(threshold), ..) => format!("After {} in a row", show::times(&threshold, "failure")),
            (None, Some(percent), Some(attempts)) => {
                format!("When {percent} % of the last {} failed", show::times(&attempts, "attempt"))
            }
            _ => "When it is down".to_owned(),
        }
    }
}

impl Destination {
    pub(super) fn rate_in_words(&self) -> String {
        let Some(rate) = &self.rate_limit else {
            return "How many attempts begin in a second is not limited.".to_owned();
        };
        let burst = match rate.burst {
            1 => String::new(),
            most => format!(", and up to {most} at once after a rest"),
        };
        format!("At most {} attempts a second begin, evenly apart{burst}.", rate.per_second)
    }

    pub(super) fn timeout_in_words(&self) -> String {
        let most = show::span(&f64::from(self.timeout_seconds));
        format!("An attempt that is not over after {most} is cut off and counts as failed.")
    }

    pub(super) fn concurrency_in_words(&self) -> String {
        let most = self.max_concurrency;
        match self.adaptive {
            true => format!("At most {most} attempts run at once, and fewer while it struggles."),
            false => format!("At most {most} attempts run at once, however it struggles."),
        }
    }

    pub(super) fn retries_in_words(&self) -> String {
        let Some(retry) = &self.retry_policy else {
            return "What fails is tried again after 30 s, 2 min, 10 min, 1 h and 6 h, then given up on."
                .to_owned();
        };
        let again = match (&retry.delays_seconds, retry.base_seconds) {
            _ if retry.max_attempts == Some(1) => return "What fails is not tried again.".to_owned(),
            (Some(delays), _) if !delays.is_empty() => {
                let most = retry.max_attempts.map_or(usize::MAX, |most| (most as usize).saturating_sub(1));
                let delays: Vec<String> = delays.iter().take(most).map(show::span).collect();
                format!("after {}", delays.join(", "))
            }
            (_, Some(base)) => format!(
                "after {} first and {} times as long each time, up to {}",
                show::span(&base),
                retry.factor.unwrap_or(2.0),
                show::span(&retry.cap_seconds.unwrap_or(0.0))
            ),
            _ => return "What fails is not tried again.".to_owned(),
        };
        let attempts = retry.max_attempts.map(|most| format!(", {} in all", show::times(&most, "attempt")));
        let age = retry.max_age_seconds.map(|age| format!(", for {} at most", show::span(&age)));
        format!(
            "What fails is tried again {again}{}{}.",
            attempts.unwrap_or_default(),
            age.unwrap_or_default()
        )
    }

    pub(super) fn circuit_in_words(&self) -> String {
        let Circuit { cooldown_seconds, cooldown_max_seconds, .. } = &self.circuit;
        format!(
            "{} its circuit opens: nothing is sent for {}, then one attempt finds out whether it is well; \
             each that fails makes the pause longer, up to {}. Its deliveries wait and use up no attempts.",
            self.circuit.opens_in_words(),
            show::span(cooldown_seconds),
            show::span(cooldown_max_seconds)
        )
    }

    pub(super) fn order_in_words(&self) -> String {
        let after = match self.on_dead_letter.as_str() {
            "block" => "one that is given up on holds back those behind it",
            _ => "one that is given up on is passed over",
        };
        match self.ordering.as_str() {
            "strict" => format!("One at a time, in the order of acceptance; {after}."),
            "by_key" => format!("In the order of acceptance for each key, keys beside each other; {after}."),
            _ => "In no particular order: what can be sent is sent.".to_owned(),
        }
    }
}

/// What its next attempt waits for.
pub(super) fn waits_for(word: &str) -> String {
    match word {
        "nothing_waits" => "nothing waits",
        "not_due" => "the time of the next attempt",
        "concurrency" => "an attempt to end: all it may have at once run",
        "bytes_in_flight" => "other large events to be sent",
        "rate_limit" => "its rate limit",
        "circuit" => "its circuit",
        "retry_after" => "the receiver: it asked for a pause",
        "overwhelmed" => "the receiver: it says that it is overwhelmed",
        "node_resources" => "the gateway: its node has no connection left to begin an attempt with",
        "unclean_stop" => "attempts of before the last stop, which may still run at the receiver",
        "paused" => "somebody to resume it",
        "dead_letter" => "the dead letter that it must not pass",
        "slots" => "a free slot of the gateway",
        other => return show::words(other),
    }
    .to_owned()
}
