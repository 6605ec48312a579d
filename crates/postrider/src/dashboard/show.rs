//! Figures and times as people read them.

use super::clip::short;

/// A list has up to a hundred of them, and each may be two thousand bytes long.
const BRIEF_BYTES: usize = 90;
const SENTENCE_BYTES: usize = 300;

/// A count with its thousands apart.
pub(super) fn count(number: &(impl Copy + Into<i128>)) -> String {
    let number: i128 = (*number).into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// A name or a URL as a list has room for it.
pub(super) fn brief(text: &str) -> String {
    short(text, BRIEF_BYTES)
}

/// Where a list has nothing to show: a store looks through only so much at a time.
pub(super) fn none_of(next_cursor: &Option<String>) -> &'static str {
    match next_cursor {
        Some(_) => "No match among those searched; older ones are on the next page.",
        None => "No dead letters.",
    }
}

/// A sentence that may quote what came from outside.
pub(super) fn sentence(text: &str) -> String {
    short(text, SENTENCE_BYTES)
}

/// A stretch of time, as long as matters.
pub(super) fn seconds(seconds: &f64) -> String {
    let whole = *seconds as u64;
    match whole {
        0 if *seconds <= 0.0 => "–".to_owned(),
        0 => format!("{:.0} ms", seconds * 1000.0),
        1..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d {} h", whole / 86_400, whole % 86_400 / 3600),
    }
}

/// A size as people say it.
pub(super) fn bytes(bytes: &u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = *bytes as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 || size >= 100.0 {
        format!("{size:.0} {}", UNITS[unit])
    } else {
        format!("{size:.1} {}", UNITS[unit])
    }
}

/// A length of time that somebody has set: no part of it is left out, and none that is nothing is said.
pub(super) fn span(length: &f64) -> String {
    let text = seconds(length);
    let whole = text.strip_suffix(" 0 s").or_else(|| text.strip_suffix(" 0 min"));
    whole.or_else(|| text.strip_suffix(" 0 h")).unwrap_or(&text).to_owned()
}

/// How long something took, as fine as matters.
pub(super) fn latency(seconds: &f64) -> String {
    match *seconds {
        ..1.0 => milliseconds(&(seconds * 1000.0)),
        1.0..60.0 => format!("{seconds:.1} s"),
        _ => self::seconds(seconds),
    }
}

/// The same where there may be none.
pub(super) fn latency_or_none(seconds: Option<&f64>) -> String {
    seconds.map_or_else(|| "–".to_owned(), latency)
}

/// How many in a second.
pub(super) fn rate(per_second: &f64) -> String {
    match *per_second {
        ..10.0 => format!("{per_second:.1} / s"),
        _ => format!("{} / s", count(&(per_second.round() as u64))),
    }
}

pub(super) fn milliseconds(milliseconds: &f64) -> String {
    if *milliseconds < 10.0 { format!("{milliseconds:.1} ms") } else { format!("{milliseconds:.0} ms") }
}

/// A stretch of time that is counted in milliseconds, as long as matters.
pub(super) fn whole_milliseconds(milliseconds: &u64) -> String {
    seconds(&(*milliseconds as f64 / 1000.0))
}

/// A moment by UTC, to the second.
pub(super) fn moment(time: &str) -> String {
    time.get(..19).unwrap_or(time).replacen('T', " ", 1)
}

/// The same where there may be none.
pub(super) fn moment_or_none(time: Option<&String>) -> String {
    time.map_or_else(|| "–".to_owned(), |time| moment(time))
}

/// A priority with its name.
pub(super) fn priority(number: &(impl Copy + Into<u64>)) -> String {
    let number: u64 = (*number).into();
    let name = match number {
        1 => "critical",
        2 => "high",
        3 => "normal",
        _ => "bulk",
    };
    format!("{number}, {name}")
}

/// So many of something.
pub(super) fn times(number: &(impl Copy + Into<i128>), noun: &str) -> String {
    let counted = count(number);
    match (counted.as_str(), noun.strip_suffix('y')) {
        ("1", _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{counted} {stem}ies"),
        (_, None) => format!("{counted} {noun}s"),
    }
}

/// Why a delivery was given up on.
pub(super) fn reason(word: &str) -> String {
    match word {
        "attempts" => "all attempts failed",
        "age" => "retries ended: the delivery was too old",
        "final_answer" => "the receiver rejected it permanently",
        "disabled" => "the receiver responded 410 Gone, which disabled the destination",
        "destination_deleted" => "its destination was deleted",
        "expired" => "expired before it could be delivered",
        "transform_failed" => "the route's transform failed",
        "crash_loop" => "the gateway crashed each time while sending it",
        other => return words(other),
    }
    .to_owned()
}

/// What an attempt ran into.
pub(super) fn error_kind(word: &str) -> String {
    match word {
        "address_refused" => "the address is not allowed",
        "dns" => "the host name has no allowed address",
        "connect" => "connection failed",
        "tls" => "TLS handshake failed",
        "disconnected" => "connection lost",
        "bad_response" => "the response is not HTTP",
        "status" => "non-2xx response",
        "timeout" => "timeout",
        "bad_request" => "the settings do not make a valid request",
        "transform" => "the transform failed",
        "internal" => "internal gateway error",
        other => return words(other),
    }
    .to_owned()
}

/// A state as a person says it.
pub(super) fn words(state: &str) -> String {
    state.replace('_', " ")
}

/// What a header was; several of one name stand together.
pub(super) fn header(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Headers as they stand in a message.
pub(super) fn lines(headers: &serde_json::Map<String, serde_json::Value>) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {}\n", header(value))).collect()
}

/// How a state is coloured; the word beside it says the same.
pub(super) fn tone(state: &str) -> &'static str {
    match state {
        "delivered" | "active" | "closed" | "done" | "success" => "good",
        "dead_letter" | "failed" | "open" | "disabled" | "revoked" | "cancelled" | "critical" => "bad",
        "retry_scheduled" | "half_open" | "paused" | "inactive" | "running" | "warning" => "warn",
        _ => "plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(count(&0), "0");
        assert_eq!(count(&999), "999");
        assert_eq!(count(&1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(count(&-1000), "-1\u{202f}000");
        assert_eq!(bytes(&999), "999 B");
        assert_eq!(bytes(&1_500), "1.5 kB");
        assert_eq!(bytes(&64_000_000_000), "64.0 GB");
        assert_eq!(bytes(&u64::MAX), "18446744 TB");
        assert_eq!(times(&1, "dead letter"), "1 dead letter");
        assert_eq!(times(&0, "attempt"), "0 attempts");
        assert_eq!(times(&2, "delivery"), "2 deliveries");
        assert_eq!(seconds(&0.0), "–");
        assert_eq!(seconds(&0.25), "250 ms");
        assert_eq!(seconds(&59.9), "59 s");
        assert_eq!(span(&600.0), "10 min");
        assert_eq!(span(&21_600.0), "6 h");
        assert_eq!(span(&86_400.0), "1 d");
        assert_eq!(span(&90.0), "1 min 30 s");
        assert_eq!(latency(&0.0042), "4.2 ms");
        assert_eq!(latency(&2.25), "2.2 s");
        assert_eq!(latency(&61.0), "1 min 1 s");
        assert_eq!(rate(&0.3), "0.3 / s");
        assert_eq!(rate(&12_345.6), "12\u{202f}346 / s");
        assert_eq!(seconds(&61.0), "1 min 1 s");
        assert_eq!(seconds(&7260.0), "2 h 1 min");
        assert_eq!(seconds(&90_000.0), "1 d 1 h");
        assert_eq!(moment("2026-01-31T12:13:14.567Z"), "2026-01-31 12:13:14");
        assert_eq!(moment("no time"), "no time");
    }
}
