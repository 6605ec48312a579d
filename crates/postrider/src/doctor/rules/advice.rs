//! Commands that change one setting of a destination. Each knows what the setting is now: what would change nothing, or
//! make it worse, is not advised.

use super::destinations::command;
use crate::doctor::snapshot::{DestinationSeen, LastAttempt, SettingsSeen};

const MAX_CONCURRENCY_MAX: u64 = 1000;
const PER_SECOND_MIN: f64 = 0.001;
const PER_SECOND_MAX: f64 = 100_000.0;
/// To which a threshold and seconds of a timeout are lowered where they are above.
const THRESHOLD: u64 = 3;
const TIMEOUT_SECONDS: u64 = 5;

/// Statuses by which a receiver asks for less.
pub(super) const OVERWHELMED: [u64; 4] = [429, 502, 503, 504];

/// Its circuit opens after fewer failures in a row, if it has so many. One that goes by rate finds a receiver that is down
/// by itself, and a few failures in a row would open it for one that takes most of what it is sent.
pub(super) fn open_sooner(found: &DestinationSeen) -> Option<String> {
    let now = found.settings.as_ref()?.circuit_threshold?;
    let counts = found.last.as_ref().is_none_or(counts_for_circuit);
    let opens = counts && now > THRESHOLD && found.consecutive_failures >= THRESHOLD;
    let change = format!(" circuit.threshold:={THRESHOLD}");
    opens.then(|| command(found, "edit", &change, "open its circuit sooner"))
}

/// An answer below 500 says that the receiver is there.
fn counts_for_circuit(last: &LastAttempt) -> bool {
    last.status.is_none_or(|status| status >= 500)
}

pub(super) fn wait_less(found: &DestinationSeen) -> Option<String> {
    let seconds = lowered(found.settings.as_ref()?.timeout_seconds, TIMEOUT_SECONDS)?;
    Some(command(found, "edit", &format!(" timeout_seconds:={seconds}"), "shorten its timeout"))
}

/// The usual when it is above that, else a part of it.
fn lowered(now: u64, usual: u64) -> Option<u64> {
    match now {
        0 | 1 => None,
        now if now > usual => Some(usual),
        now => Some(now / 2),
    }
}

/// Twice of what it waits for, when that is a setting of its own.
pub(super) fn give_more(found: &DestinationSeen) -> Option<String> {
    let settings = found.settings.as_ref()?;
    match found.waiting_for.as_str() {
        // Where fewer run at once than may, the receiver has shown that it does not bear more.
        "concurrency" if !settings.is_strict && found.limit >= found.max_concurrency => {
            let more = (found.max_concurrency * 2).min(MAX_CONCURRENCY_MAX);
            let change = format!(" max_concurrency:={more}");
            let what_for = "if its owner accepts twice as many at once";
            (more > found.max_concurrency).then(|| command(found, "edit", &change, what_for))
        }
        "rate_limit" => {
            let now = settings.per_second?;
            let more = (now * 2.0).min(PER_SECOND_MAX);
            let change = format!(" rate_limit.per_second:={more}");
            let what_for = "if its owner accepts twice as many per second";
            (more > now).then(|| command(found, "edit", &change, what_for))
        }
        _ => None,
    }
}

/// Half as much, for one that asks for less.
pub(super) fn give_less(found: &DestinationSeen) -> Option<String> {
    let (settings, last) = (found.settings.as_ref()?, found.last.as_ref()?);
    if !last.status.is_some_and(|status| OVERWHELMED.contains(&status)) {
        return None;
    }
    let at_once = if settings.is_strict { 1 } else { found.limit.min(found.max_concurrency).max(1) };
    if settings.per_second.is_none() && at_once > 1 {
        let change = format!(" max_concurrency:={}", at_once / 2);
        return Some(command(found, "edit", &change, "half as many at once"));
    }
    // Attempts that follow one another without a pause are so many a second: a limit above that would change nothing.
    let unlimited = (last.latency_ms > 0.0).then(|| at_once as f64 * 1000.0 / last.latency_ms);
    let now = settings.per_second.into_iter().chain(unlimited).min_by(f64::total_cmp)?;
    let less = (now * 500.0).round() / 1000.0;
    let change = format!(" rate_limit.per_second:={less}");
    let is_less = (PER_SECOND_MIN..=PER_SECOND_MAX).contains(&less) && less < now;
    is_less.then(|| command(found, "edit", &change, "half as many per second"))
}

/// A word about its circuit, unless it is so already.
pub(super) fn circuit(found: &DestinationSeen, word: &str, what_for: &str) -> Option<String> {
    let is_so = found.circuit.replace('_', "-") == word;
    (!is_so).then(|| command(found, "circuit", &format!(" {word}"), what_for))
}

/// The part of its credentials that is secret; all of it where it has none.
pub(super) fn new_credential(found: &DestinationSeen) -> String {
    let change = match found.settings.as_ref().map(|settings: &SettingsSeen| settings.auth_type.as_str()) {
        Some("header") => " auth_config.value=@FILE",
        Some("basic") => " auth_config.password=@FILE",
        Some("") => " auth_config.type=bearer auth_config.token=@FILE",
        _ => " auth_config.token=@FILE",
    };
    command(found, "edit", change, "the new credential")
}
