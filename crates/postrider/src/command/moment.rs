//! Moments as a person says them: RFC 3339, or how long ago.

use postrider_core::time::Timestamp;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// For clap: gives the moment in the API's form.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let said = Timestamp::parse_rfc3339(text).or_else(|| before(now(), ago(text)?));
    said.map(|at| at.to_string())
        .ok_or_else(|| "must be RFC 3339 (2026-01-31T12:00:00Z) or an age: 90s, 15m, 6h, 2d".to_owned())
}

fn ago(text: &str) -> Option<Duration> {
    let unit = text.char_indices().last()?;
    let seconds = match unit.1 {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number: u64 = text[..unit.0].parse().ok()?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

fn before(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    let ms = u64::try_from(duration.as_millis()).ok()?;
    at.unix_ms().checked_sub(ms).map(Timestamp::from_unix_ms)
}

pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::ZERO.after(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_or_how_long_ago() {
        assert_eq!(parse("2026-01-31T12:00:00Z"), Ok("2026-01-31T12:00:00.000Z".to_owned()));
        let hour_ago = parse("1h").expect("an hour ago");
        let at = Timestamp::parse_rfc3339(&hour_ago).expect("a time");
        assert!((3_599..=3_660).contains(&now().since(at).as_secs()), "{hour_ago}");
        for bad in ["", "h", "1", "1w", "-1h", "yesterday", "99999999999999999999d", "1000000d", "1ö"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
