//! Waiting before the store is asked again, longer each time, and not all nodes together.

use postrider_core::pauses::Pauses;
use postrider_core::retry::Chance;
use std::time::Duration;

/// The longest: nodes go on well within the ten seconds after which a store that is back is promised to be used again.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The next pause.
pub(crate) fn next(pauses: &mut Pauses) -> Duration {
    pauses.next(Chance::new(random_bits()))
}

/// The spread of retries needs no secrecy, but a herd of gateways must not share a sequence.
pub(crate) fn random_bits() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}
