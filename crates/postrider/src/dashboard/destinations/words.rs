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
            return "No rate limit.".to_owned();
        };
        let burst = match rate.burst {
            1 => String::new(),
            most => format!(", with bursts of up to {most}"),
        };
        format!("At most {} attempts per second, evenly spaced{burst}.", rate.per_second)
    }

    pub(super) fn timeout_in_words(&self) -> String {
        let most = show::span(&f64::from(self.timeout_seconds));
        format!("An attempt fails if it takes longer than {most}.")
    }

    pub(super) fn concurrency_in_words(&self) -> String {
        let most = self.max_concurrency;
        match self.adaptive {
            true => format!("At most {most} concurrent attempts, fewer while the receiver is overloaded."),
            false => format!("At most {most} concurrent attempts."),
        }
    }

    pub(super) fn retries_in_words(&self) -> String {
        let Some(retry) = &self.retry_policy else {
            return "A failed attempt is retried after 30 s, 2 min, 10 min, 1 h and 6 h; after that it is a dead letter."
                .to_owned();
        };
        let again = match (&retry.delays_seconds, retry.base_seconds) {
            _ if retry.max_attempts == Some(1) => return "A failed attempt is not retried.".to_owned(),
            (Some(delays), _) if !delays.is_empty() => {
                let most = retry.max_attempts.map_or(usize::MAX, |most| (most as usize).saturating_sub(1));
                let delays: Vec<String> = delays.iter().take(most).map(show::span).collect();
                format!("after {}", delays.join(", "))
            }
            (_, Some(base)) => format!(
                "after {}, then {} times as long each time, up to {}",
                show::span(&base),
                retry.factor.unwrap_or(2.0),
                show::span(&retry.cap_seconds.unwrap_or(0.0))
            ),
            _ => return "A failed attempt is not retried.".to_owned(),
        };
        let attempts = retry.max_attempts.map(|most| format!(", {} in all", show::times(&most, "attempt")));
        let age = retry.max_age_seconds.map(|age| format!(", for {} at most", show::span(&age)));
        format!(
            "A failed attempt is retried {again}{}{}.",
            attempts.unwrap_or_default(),
            age.unwrap_or_default()
        )
    }

    pub(super) fn circuit_in_words(&self) -> String {
        let Circuit { cooldown_seconds, cooldown_max_seconds, .. } = &self.circuit;
        format!(
            "{}, its circuit opens: nothing is sent for {}, then a single attempt probes the receiver. Each failed \
             probe makes the pause longer, up to {}. Its deliveries stay pending and use up no attempts.",
            self.circuit.opens_in_words(),
            show::span(cooldown_seconds),
            show::span(cooldown_max_seconds)
        )
    }

    /// Why its circuit is not closed and when it is tried, if it is not closed.
    pub(super) fn outage_in_words(&self) -> Option<String> {
        if self.circuit_state == "closed" {
            return None;
        }
        let why = self.circuit_reason.as_deref().map_or("since before the gateway started", opened_because);
        let since = self.circuit_opened_at.as_ref().map(|at| format!(", at {} UTC", show::moment(at)));
        let failures = show::times(&self.consecutive_failures, "failure");
        let next = match (&self.next_probe_at, self.circuit_state.as_str()) {
            (Some(at), _) => format!("next probe at {} UTC", show::moment(at)),
            (None, "half_open") => "being probed now".to_owned(),
            (None, _) if self.circuit_reason.as_deref() == Some("operator") => {
                "nothing is sent until it is closed".to_owned()
            }
            (None, _) => "the next delivery is the probe".to_owned(),
        };
        Some(format!("{why}{}; {failures} in a row; {next}", since.unwrap_or_default()))
    }

    pub(super) fn order_in_words(&self) -> String {
        let after = match self.on_dead_letter.as_str() {
            "block" => "a dead letter blocks the deliveries behind it",
            _ => "a dead letter is skipped",
        };
        match self.ordering.as_str() {
            "strict" => format!("One at a time, in the order of acceptance; {after}."),
            "by_key" => format!("In order for each key, with keys in parallel; {after}."),
            _ => "In no particular order.".to_owned(),
        }
    }
}

/// Why a circuit opened.
fn opened_because(word: &str) -> &str {
    match word {
        "failure_rate" => "its last attempts failed",
        "consecutive_failures" => "too many consecutive failures",
        "no_success" => "no success for ten minutes",
        "operator" => "opened by an operator",
        other => other,
    }
}

/// Why its next attempt has not started.
pub(super) fn waits_for(word: &str) -> String {
    match word {
        "nothing_pending" => "nothing is pending",
        "not_due" => "the time of the next attempt",
        "concurrency" => "a running attempt to finish: its concurrency limit is reached",
        "bytes_in_flight" => "memory: other large events are in flight",
        "rate_limit" => "its rate limit",
        "circuit" => "its circuit",
        "retry_after" => "the receiver, which asked for a pause (Retry-After)",
        "overwhelmed" => "the receiver, which reports overload",
        "node_resources" => "a free connection on the gateway node",
        "unclean_stop" => "attempts from before the last stop, which may still run at the receiver",
        "paused" => "you to resume it",
        "dead_letter" => "a dead letter ahead of it in the same order",
        "slots" => "a free slot on the gateway",
        other => return show::words(other),
    }
    .to_owned()
}
