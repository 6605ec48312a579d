//! Header names and values as one text: `name: value` a line, in the order they were seen.
//!
//! One piece of memory for all of them, readable as it is in a database.

use std::fmt;

/// Headers of a request or a response. Names may repeat.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(String);

impl Headers {
    /// None yet, with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Headers(String::with_capacity(bytes))
    }

    /// From the text that [`Headers::as_text`] gave.
    pub fn from_text(text: String) -> Self {
        Headers(text)
    }

    /// Adds one. A line break cannot be in a header; if one is, it becomes a space.
    pub fn push(&mut self, name: &str, value: &str) {
        let before = self.0.len();
        for part in [name, ": ", value] {
            self.0.push_str(part);
        }
        // Looked for in one go: nearly always there is none.
        if memchr::memchr2(b'\n', b'\r', &self.0.as_bytes()[before..]).is_some() {
            let clean = self.0[before..].replace(['\n', '\r'], " ");
            self.0.replace_range(before.., &clean);
        }
        self.0.push('\n');
    }

    /// Adds all of others behind those that are there.
    pub fn append(&mut self, others: &Headers) {
        self.0.push_str(&others.0);
    }

    /// The same of a value as it came; what is no UTF-8 is kept lossily.
    pub fn push_bytes(&mut self, name: &str, value: &[u8]) {
        // Nearly all values are plain text, which is found out far faster than it is repaired.
        match std::str::from_utf8(value) {
            Ok(text) => self.push(name, text),
            Err(_) => self.push(name, &String::from_utf8_lossy(value)),
        }
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.as_text();
        let lines = std::iter::from_fn(move || {
            let (line, behind) = split(rest, b'\n').or_else(|| (!rest.is_empty()).then_some((rest, "")))?;
            rest = behind;
            Some(line)
        });
        lines.filter_map(|line| {
            let (name, value) = split(line, b':')?;
            Some((name, value.strip_prefix(' ')?))
        })
    }

    /// The first value of a name, in whatever case it was written.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The text.
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this very name and value are among them.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.iter().any(|pair| pair == (name, value))
    }
}

/// Before and behind a byte of ASCII. Searched by vector: the headers of every event are read several times.
fn split(text: &str, at: u8) -> Option<(&str, &str)> {
    let place = memchr::memchr(at, text.as_bytes())?;
    Some((&text[..place], &text[place + 1..]))
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut headers = Headers::default();
        pairs.into_iter().for_each(|(name, value)| headers.push(name.as_ref(), value.as_ref()));
        headers
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_there_and_back_in_order() {
        let pairs = [("b", "2"), ("a", "1: x"), ("b", ""), ("c", " \t\"ö")];
        let headers: Headers = pairs.into_iter().collect();
        let back = Headers::from_text(headers.as_text().to_owned());
        assert_eq!(back.iter().collect::<Vec<_>>(), pairs);
    }

    #[test]
    fn a_value_that_is_no_text_is_kept_lossily() {
        let mut headers = Headers::default();
        headers.push_bytes("a", b"1");
        headers.push_bytes("b", b"\xff2");
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "\u{fffd}2")]);
    }

    #[test]
    fn a_line_break_cannot_make_a_second_header() {
        let headers: Headers = [("a", "1\r\nevil: 2")].into_iter().collect();
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("a", "1  evil: 2")]);
    }
}
