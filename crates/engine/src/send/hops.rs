//! Counts how often an event has been through a gateway, so that a circle of destinations ends.

use postrider_store::Headers;

/// What a delivery carries, and an arrival may.
pub const HOPS_HEADER: &str = "postrider-hops";

/// Gateways behind each other that an event may pass. Nobody chains more on purpose.
pub const HOPS_MAX: u32 = 5;

/// The count in these values of the header. A number too large to read is one; what is no number counts nothing,
/// since no gateway wrote it.
pub fn hops<'a>(values: impl Iterator<Item = &'a [u8]>) -> u32 {
    let count = |value: &[u8]| {
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let number = std::str::from_utf8(value).ok().filter(|_| digits);
        number.map_or(0, |number| number.parse().unwrap_or(u32::MAX))
    };
    values.map(count).max().unwrap_or(0)
}

pub(crate) fn of(headers: &Headers) -> u32 {
    let named = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(HOPS_HEADER));
    hops(named.map(|(_, value)| value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_counted_however_they_are_written() {
        for (values, expected) in [
            (&[][..], 0),
            (&["3"], 3),
            (&["1", "4", "2"], 4),
            (&["99999999999999999999"], u32::MAX),
            (&[""], 0),
            (&["-1"], 0),
            (&["+7"], 0),
            (&["two"], 0),
        ] {
            assert_eq!(hops(values.iter().map(|value| value.as_bytes())), expected, "{values:?}");
        }
        let headers: Headers = [("Postrider-Hops", "2"), ("x", "9")].into_iter().collect();
        assert_eq!(of(&headers), 2);
    }
}
