//! When a sender says it signed, and how far from now that may be.

use http::HeaderName;
use postrider_core::time::Timestamp;
use std::time::Duration;

/// Where a request carries the time of its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimestampPlace {
    /// In a header of its own.
    Header(HeaderName),
    /// Beside the signature, in the entry that begins so.
    Entry(String),
    /// In the body; read only once the signature holds.
    JsonPointer(String),
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimestampUnit {
    Seconds,
    Milliseconds,
    Rfc3339,
}

/// Both, and the tolerance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimestampRule {
    pub(super) place: TimestampPlace,
    pub(super) unit: TimestampUnit,
    pub(super) tolerance: Duration,
}

impl TimestampRule {
    /// Whether this is a time near enough to now. One from the future is as bad as an old one: it could be
    /// kept and used later.
    pub(super) fn allows(&self, text: &str, now: Timestamp) -> bool {
        let near = |at: Timestamp| now.since(at).max(at.since(now)) <= self.tolerance;
        self.unit.parse(text).is_some_and(near)
    }
}

impl TimestampUnit {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "seconds" => Some(TimestampUnit::Seconds),
            "milliseconds" => Some(TimestampUnit::Milliseconds),
            "rfc3339" => Some(TimestampUnit::Rfc3339),
            _ => None,
        }
    }

    fn parse(self, text: &str) -> Option<Timestamp> {
        // `parse` alone would also take a sign.
        let number = || text.parse::<u64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        match self {
            TimestampUnit::Seconds => Some(Timestamp::from_unix_ms(number()?.saturating_mul(1000))),
            TimestampUnit::Milliseconds => Some(Timestamp::from_unix_ms(number()?)),
            TimestampUnit::Rfc3339 => Timestamp::parse_rfc3339(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_near_in_both_directions_or_refused() {
        let now = Timestamp::from_unix_ms(1_700_000_000_500);
        let allowed = |unit, text: &str| {
            let place = TimestampPlace::Entry("t=".into());
            TimestampRule { place, unit, tolerance: Duration::from_secs(300) }.allows(text, now)
        };
        for (text, expected) in [
            ("1700000000", true),
            ("1699999701", true),
            ("1699999700", false),
            ("1700000300", true),
            ("1700000301", false),
            ("99999999999999999999", false),
            ("18446744073709551615", false),
            ("+1700000000", false),
            ("-1700000000", false),
            ("1700000000.0", false),
            (" 1700000000", false),
            ("", false),
            ("１７", false),
        ] {
            assert_eq!(allowed(TimestampUnit::Seconds, text), expected, "{text:?}");
        }
        assert!(allowed(TimestampUnit::Milliseconds, "1700000300500"));
        assert!(!allowed(TimestampUnit::Milliseconds, "1700000300501"));
        assert!(allowed(TimestampUnit::Rfc3339, "2023-11-14T22:13:20Z"));
        assert!(!allowed(TimestampUnit::Rfc3339, "2023-11-14T22:23:20Z"));
        assert!(!allowed(TimestampUnit::Rfc3339, "1700000000"));
    }
}
