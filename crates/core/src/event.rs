//! The type of an event: dot-separated words such as `payment.captured`.

use crate::limits::EVENT_TYPE_BYTES_MAX;
use std::fmt;

/// A legal event type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventType(Box<str>);

/// Why a text is no event type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEventType;

impl fmt::Display for BadEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "must be 1 to {EVENT_TYPE_BYTES_MAX} visible ASCII characters, words separated by single dots, without *"
        )
    }
}

impl std::error::Error for BadEventType {}

impl EventType {
    /// Checks and keeps a type.
    pub fn parse(text: &str) -> Result<Self, BadEventType> {
        let legal = text.len() <= EVENT_TYPE_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'*')
            && text.split('.').all(|word| !word.is_empty());
        if legal { Ok(EventType(text.into())) } else { Err(BadEventType) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_types_are_dotted_words() {
        for text in ["a", "payment.captured", "com.example:order/v1.created", "X_Y-z.1"] {
            assert!(EventType::parse(text).is_ok(), "{text}");
        }
        let long = "x".repeat(EVENT_TYPE_BYTES_MAX + 1);
        for text in ["", ".", "a.", ".a", "a..b", "a b", "a\n", "payment.*", "é", &long] {
            assert!(EventType::parse(text).is_err(), "{text}");
        }
    }
}
