//! Which event types a route takes: words with `*` for one word and `**` for any number of them. A pattern that is
//! nothing but a star takes everything, since that is what who writes it means.

use crate::event::EventType;
use crate::limits::EVENT_TYPE_BYTES_MAX;
use std::fmt;

/// A legal pattern, for example `payment.*`, `**.failed` or `order.created`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    text: Box<str>,
}

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "must be words separated by single dots, at most {EVENT_TYPE_BYTES_MAX} characters; a word may be * (any one word) or ** (any number of words), but * cannot be part of a word; * alone matches every event"
        )
    }
}

impl std::error::Error for BadPattern {}

impl EventPattern {
    /// Checks and keeps a pattern.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let legal_word = |word: &str| {
            matches!(word, "*" | "**")
                || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'*'))
        };
        let legal = text.len() <= EVENT_TYPE_BYTES_MAX && text.split('.').all(legal_word);
        if legal { Ok(EventPattern { text: text.into() }) } else { Err(BadPattern) }
    }

    /// Takes every event, also one without a type.
    pub fn everything() -> Self {
        EventPattern { text: "**".into() }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether an event of this type (or of none) is taken.
    pub fn matches(&self, event_type: Option<&EventType>) -> bool {
        if matches!(&*self.text, "*" | "**") {
            return true;
        }
        let Some(event_type) = event_type else { return false };
        words_match(&self.text, event_type.as_str())
    }
}

/// Greedy matching with one point to fall back to: the last `**` seen. Linear in practice and never
/// worse than words × words, so a hostile pattern cannot stall ingest.
fn words_match(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (Words(Some(pattern)), Words(Some(text)));
    let mut fall_back: Option<(Words<'_>, Words<'_>)> = None;
    loop {
        let (before_pattern, before_text) = (pattern, text);
        match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some("**"), _) => {
                text = before_text;
                fall_back = Some((pattern, text));
            }
            (Some(word), Some(found)) if word == "*" || word == found => {}
            _ => {
                let Some((resume_pattern, mut resume_text)) = fall_back else { return false };
                if resume_text.next().is_none() {
                    return false;
                }
                debug_assert!(before_pattern.0.is_some() || before_text.0.is_some());
                fall_back = Some((resume_pattern, resume_text));
                (pattern, text) = (resume_pattern, resume_text);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Words<'a>(Option<&'a str>);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0?;
        match rest.split_once('.') {
            Some((word, after)) => {
                self.0 = Some(after);
                Some(word)
            }
            None => {
                self.0 = None;
                Some(rest)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, takes: &[&str], leaves: &[&str]) {
        let parsed = EventPattern::parse(pattern).unwrap();
        for text in takes {
            assert!(parsed.matches(Some(&EventType::parse(text).unwrap())), "{pattern} should take {text}");
        }
        for text in leaves {
            assert!(!parsed.matches(Some(&EventType::parse(text).unwrap())), "{pattern} should leave {text}");
        }
    }

    #[test]
    fn patterns_take_what_they_say() {
        check(
            "payment.captured",
            &["payment.captured"],
            &["payment", "payment.captured.late", "payment.failed"],
        );
        check("payment.*", &["payment.captured"], &["payment", "payment.captured.late", "order.captured"]);
        check(
            "payment.**",
            &["payment", "payment.captured", "payment.captured.late"],
            &["payments", "order.paid"],
        );
        check(
            "**.failed",
            &["failed", "payment.failed", "a.b.c.failed"],
            &["failed.payment", "payment.failed.x"],
        );
        check("a.**.b.*.c", &["a.b.x.c", "a.x.y.b.z.c", "a.b.b.b.c"], &["a.b.c", "a.x.b.c"]);
        check("**", &["a", "a.b.c"], &[]);
        check("*", &["a", "a.b.c"], &[]);
        check("*.*", &["a.b"], &["a", "a.b.c"]);
        check("**.a.**.a.**", &["a.a", "x.a.y.a.z", "a.b.a"], &["a", "x.a.y"]);
    }

    #[test]
    fn an_event_without_a_type_goes_only_where_everything_goes() {
        assert!(EventPattern::everything().matches(None));
        for (text, takes) in [("*", true), ("**", true), ("a.**", false), ("*.*", false), ("**.*", false)] {
            assert_eq!(EventPattern::parse(text).unwrap().matches(None), takes, "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_patterns_are_refused() {
        for text in ["", "a..b", ".a", "a.", "pay*", "a.***", "a b", "é"] {
            assert!(EventPattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_hostile_pattern_stays_cheap() {
        let pattern =
            EventPattern::parse(&"**.a.".repeat(50).trim_end_matches('.').replace("..", ".")).unwrap();
        let text = EventType::parse(&format!("{}b", "a.".repeat(120))).unwrap();
        assert!(!pattern.matches(Some(&text)));
    }
}
