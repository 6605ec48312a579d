//! Points in time as unix milliseconds, and their RFC 3339 text.

use std::fmt;
use std::time::Duration;

/// Milliseconds since 1970-01-01 UTC. Arithmetic saturates: a hostile number becomes a far date, never a panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

const MS_PER_DAY: u64 = 86_400_000;

impl Timestamp {
    /// The last millisecond of the year 9999: what RFC 3339 can still write in four digits.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);
    /// The start of the unix epoch.
    pub const ZERO: Timestamp = Timestamp(0);

    /// From unix milliseconds, capped at [`Timestamp::MAX`].
    pub const fn from_unix_ms(ms: u64) -> Self {
        if ms > Self::MAX.0 { Self::MAX } else { Timestamp(ms) }
    }

    /// Unix milliseconds.
    pub const fn unix_ms(self) -> u64 {
        self.0
    }

    /// Whole unix seconds.
    pub const fn unix_seconds(self) -> u64 {
        self.0 / 1000
    }

    /// This much later, capped at [`Timestamp::MAX`].
    pub fn after(self, delay: Duration) -> Self {
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        Self::from_unix_ms(self.0.saturating_add(delay_ms))
    }

    /// The moment that much earlier.
    pub fn before(self, delay: Duration) -> Self {
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        Self::from_unix_ms(self.0.saturating_sub(delay_ms))
    }

    /// How much later this is than `earlier`; zero when it is not.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// How far apart the two are, whichever is earlier.
    pub fn apart(self, other: Timestamp) -> Duration {
        Duration::from_millis(self.0.abs_diff(other.0))
    }

    /// The day it falls into, in UTC, counted from 1970-01-01.
    pub const fn day(self) -> u64 {
        self.0 / MS_PER_DAY
    }

    /// The first moment of a day counted so.
    pub const fn from_day(day: u64) -> Self {
        Self::from_unix_ms(day.saturating_mul(MS_PER_DAY))
    }

    /// From a civil date and time in UTC; `None` when there is no such moment.
    pub fn from_civil(year: u32, month: u32, day: u32, hour: u32, minute: u32, second: u32) -> Option<Self> {
        let in_range = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        if !in_range {
            return None;
        }
        let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second.min(59));
        Some(Timestamp(days_from_civil(year, month, day) * MS_PER_DAY + seconds * 1000))
    }

    /// From RFC 3339, such as `2026-01-31T12:00:00Z`, with a fraction or an offset if it has one; `None` when it
    /// is none. What is finer than a millisecond is cut off.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let (date, rest) = (text.get(..10)?, text.get(10..)?);
        let (clock, rest) = (rest.get(1..9)?, rest.get(9..)?);
        let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
        let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
        let separated = matches!(text.as_bytes()[10], b'T' | b't' | b' ');
        let (ms, offset) = match rest.strip_prefix('.') {
            Some(rest) => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                (milliseconds(&rest[..digits])?, &rest[digits..])
            }
            None => (0, rest),
        };
        let at = Self::from_civil(year, month, day, hour, minute, second).filter(|_| separated)?;
        shift(at.0 + ms, offset).map(Self::from_unix_ms)
    }

    fn to_civil(self) -> (u64, u64, u64) {
        civil_from_days(self.0 / MS_PER_DAY)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.to_civil();
        let in_day = self.0 % MS_PER_DAY;
        let (hour, minute, second, ms) =
            (in_day / 3_600_000, in_day / 60_000 % 60, in_day / 1000 % 60, in_day % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }
}

/// Three numbers of so many digits each, with a separator between them.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[u32; 3]> {
    let mut parts = text.split(separator);
    let mut found = [0; 3];
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(found)
}

/// Of a fraction of a second: its first three digits.
fn milliseconds(fraction: &str) -> Option<u64> {
    let first: String = fraction.chars().chain("00".chars()).take(3).collect();
    if fraction.is_empty() { None } else { first.parse().ok() }
}

/// Takes the offset from UTC off.
fn shift(local_ms: u64, offset: &str) -> Option<u64> {
    if matches!(offset, "Z" | "z") {
        return Some(local_ms);
    }
    let [hours, minutes, _] = numbers(&format!("{}:00", offset.get(1..)?), ':', [2, 2, 2])?;
    let ms = u64::from(hours * 60 + minutes) * 60_000;
    match offset.as_bytes()[0] {
        _ if hours > 23 || minutes > 59 => None,
        b'+' => local_ms.checked_sub(ms),
        b'-' => Some(local_ms + ms),
        _ => None,
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01. The year is taken to begin in March, so that the leap day falls at its end.
fn days_from_civil(year: u32, month: u32, day: u32) -> u64 {
    let (year, month, day) = (u64::from(year), u64::from(month), u64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_as_rfc_3339() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_614_265_330_123, "2021-02-25T15:02:10.123Z"),
            (2_147_483_648_000, "2038-01-19T03:14:08.000Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_unix_ms(ms).to_string(), text);
        }
    }

    #[test]
    fn civil_dates_go_there_and_back_for_every_day() {
        for day in 0..200_000 {
            let (year, month, day_of_month) = civil_from_days(day);
            let back = days_from_civil(year as u32, month as u32, day_of_month as u32);
            assert_eq!(back, day);
        }
    }

    #[test]
    fn moments_that_do_not_exist_are_refused() {
        assert_eq!(Timestamp::from_civil(2023, 2, 29, 0, 0, 0), None);
        assert_eq!(Timestamp::from_civil(2024, 13, 1, 0, 0, 0), None);
        assert_eq!(Timestamp::from_civil(1969, 12, 31, 0, 0, 0), None);
        assert!(Timestamp::from_civil(2024, 2, 29, 23, 59, 60).is_some());
    }

    #[test]
    fn rfc_3339_is_read() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2021-02-25T15:02:10.123Z", 1_614_265_330_123),
            ("2021-02-25t15:02:10.1239999z", 1_614_265_330_123),
            ("2021-02-25 15:02:10.1Z", 1_614_265_330_100),
            ("2021-02-25T17:02:10.12+02:00", 1_614_265_330_120),
            ("2021-02-25T07:32:10-07:30", 1_614_265_330_000),
        ] {
            assert_eq!(Timestamp::parse_rfc3339(text), Some(Timestamp::from_unix_ms(ms)), "{text}");
        }
        for text in [
            "",
            "today",
            "2021-02-25",
            "2021-02-25T15:02:10",
            "2021-02-30T15:02:10Z",
            "2021-02-25X15:02:10Z",
            "2021-02-25T15:02:10.Z",
            "2021-02-25T15:02:10+2:00",
            "2021-02-25T15:02:10+24:00",
            "1970-01-01T00:00:00+01:00",
            "+021-02-25T15:02:10Z",
            "2021-02-25T15:02:10Zé",
            "ééééééééééééé",
        ] {
            assert_eq!(Timestamp::parse_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_is_from_midnight_to_midnight() {
        let noon = Timestamp::from_civil(2026, 1, 31, 12, 0, 0).unwrap();
        assert_eq!(Timestamp::from_day(noon.day()).to_string(), "2026-01-31T00:00:00.000Z");
        assert_eq!(Timestamp::from_unix_ms(MS_PER_DAY - 1).day(), 0);
        assert_eq!(Timestamp::from_unix_ms(MS_PER_DAY).day(), 1);
        assert_eq!(Timestamp::from_day(u64::MAX), Timestamp::MAX);
    }

    #[test]
    fn adding_absurd_delays_saturates() {
        assert_eq!(Timestamp::ZERO.after(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::ZERO.since(Timestamp::MAX), Duration::ZERO);
    }
}
