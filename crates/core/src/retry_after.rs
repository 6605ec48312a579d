//! Reads a receiver's `Retry-After` as the hostile input it is: whole seconds or an HTTP date, capped.

use crate::limits::RETRY_AFTER_MAX;
use crate::time::Timestamp;
use std::time::Duration;

/// How long to stay away; `None` when the header says nothing usable. Never more than [`RETRY_AFTER_MAX`].
pub fn parse(value: &[u8], now: Timestamp) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?.trim();
    let wait = seconds(text).or_else(|| Some(http_date(text)?.since(now)))?;
    Some(wait.min(RETRY_AFTER_MAX))
}

/// Only digits: a float parser would take `inf` and `1e300`, which no duration can hold.
fn seconds(text: &str) -> Option<Duration> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().map_or(Duration::MAX, Duration::from_secs))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that senders may write.
fn http_date(text: &str) -> Option<Timestamp> {
    let (_weekday, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let (day, month, year, time) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if parts.next()? != "GMT" || parts.next().is_some() {
        return None;
    }
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|known| *known == month)? as u32 + 1;
    let mut clock = time.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if clock.next().is_some() {
        return None;
    }
    Timestamp::from_civil(number(year)?, month, number(day)?, hour, minute, second)
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_hostile_input() {
        let now = Timestamp::from_civil(2026, 11, 15, 12, 0, 0).unwrap();
        let day = Some(RETRY_AFTER_MAX);
        let rows: &[(&[u8], Option<Duration>)] = &[
            (b"0", Some(Duration::ZERO)),
            (b"120", Some(Duration::from_secs(120))),
            (b" 7 ", Some(Duration::from_secs(7))),
            (b"99999999999999999", day),
            (b"99999999999999999999999999999999", day),
            (b"Sun, 15 Nov 2026 12:01:30 GMT", Some(Duration::from_secs(90))),
            (b"Sun, 15 Nov 1998 12:01:30 GMT", Some(Duration::ZERO)),
            (b"Fri, 31 Dec 9999 23:59:59 GMT", day),
            (b"", None),
            (b"inf", None),
            (b"NaN", None),
            (b"1e300", None),
            (b"-1", None),
            (b"+5", None),
            (b"1.5", None),
            (b"Sun, 31 Feb 2026 12:01:30 GMT", None),
            (b"Sun, 15 Nov 2026 25:01:30 GMT", None),
            (b"Sun, 15 Nov 2026 12:01:30 GMT trailing", None),
            (b"Sun, 15 Nov 2026 12:01:30:00 GMT", None),
            (b"\xff\xfe", None),
        ];
        for (value, expected) in rows {
            assert_eq!(parse(value, now), *expected, "{:?}", String::from_utf8_lossy(value));
        }
    }
}
