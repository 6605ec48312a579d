//! From what is counted to what is read: rates, milliseconds, mebibytes, and grouped digits.

use std::time::Duration;

/// Counts stay far below the 2^53 that a float holds exactly.
pub(crate) fn float(count: u64) -> f64 {
    debug_assert!(count < 1 << 53);
    count as f64
}

pub(crate) fn per_second(events: u64, time: Duration) -> f64 {
    float(events) / time.as_secs_f64().max(1e-9)
}

pub(crate) fn milliseconds(microseconds: u64) -> f64 {
    float(microseconds) / 1000.0
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn mebibytes(bytes: u64) -> f64 {
    float(bytes) / 1_048_576.0
}

/// Three digits that matter: `46,211`, `4.31`, `38.2`.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => grouped(&format!("{value:.0}")),
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub(crate) fn number(count: u64) -> String {
    grouped(&count.to_string())
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = sign.to_owned();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_show_three_digits_and_group_thousands() {
        let cases = [
            (46_210.7, "46,211"),
            (999.6, "1000"),
            (1e6, "1,000,000"),
            (38.24, "38.2"),
            (0.5, "0.50"),
            (-1234.0, "-1,234"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text);
        }
        assert_eq!([number(0), number(999), number(1000)], ["0", "999", "1,000"]);
    }

    #[test]
    fn a_rate_is_events_by_seconds_and_never_infinite() {
        assert!((per_second(1000, Duration::from_millis(500)) - 2000.0).abs() < 1e-6);
        assert!(per_second(1, Duration::ZERO).is_finite());
    }
}
