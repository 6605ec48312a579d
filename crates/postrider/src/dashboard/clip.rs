//! The beginning of a text that may be long, measured by what it costs on the page: whoever sends quotation marks alone
//! must not make a page five times as long.

use super::visible::is_named;

/// Of `\u{e007f}`, the longest.
const NAMED_BYTES: usize = 9;

/// As much as the page has room for, and whether that is all.
pub(super) fn clip(text: &str, bytes_max: usize) -> (&str, Rest) {
    let mut cost = 0;
    for (place, character) in text.char_indices() {
        cost += match character {
            '<' | '>' | '&' | '"' | '\'' => 5,
            named if is_named(named) => NAMED_BYTES,
            other => other.len_utf8(),
        };
        if cost > bytes_max {
            return (&text[..place], Rest::LeftOut);
        }
    }
    (text, Rest::None)
}

/// As much as there is room for, with a sign where there is more.
pub(super) fn short(text: &str, bytes_max: usize) -> String {
    match clip(text, bytes_max) {
        (whole, Rest::None) => whole.to_owned(),
        (start, Rest::LeftOut) => format!("{start}…"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    None,
    LeftOut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_what_it_costs_on_the_page() {
        assert_eq!(clip("", 0), ("", Rest::None));
        assert_eq!(clip("abc", 3), ("abc", Rest::None));
        assert_eq!(clip("abcd", 3), ("abc", Rest::LeftOut));
        assert_eq!(clip("\"\"\"", 10), ("\"\"", Rest::LeftOut));
        assert_eq!(clip("\u{202e}\u{1b}", 17), ("\u{202e}", Rest::LeftOut));
        assert_eq!(clip("aéb", 2), ("a", Rest::LeftOut));
        assert_eq!(clip("aéb", 3), ("aé", Rest::LeftOut));
        assert_eq!((short("abc", 3), short("a<b", 5)), ("abc".to_owned(), "a…".to_owned()));
    }
}
