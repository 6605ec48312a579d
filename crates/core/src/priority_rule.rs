//! How a route finds the priority of an event: rules in order, of which the first that matches decides.

use crate::delivery::Priority;
use crate::event::EventType;
use crate::pattern::EventPattern;

/// One rule. Expressions are kept as text: what they mean is decided where they are evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityRule {
    /// Events whose type a pattern takes.
    Type {
        /// Which types.
        pattern: EventPattern,
        /// How urgent they are.
        priority: Priority,
    },
    /// Events whose type begins like this.
    Prefix {
        /// The beginning.
        prefix: String,
        /// How urgent they are.
        priority: Priority,
    },
    /// Events whose type ends like this.
    Suffix {
        /// The end.
        suffix: String,
        /// How urgent they are.
        priority: Priority,
    },
    /// Events for which a CEL expression holds.
    When {
        /// The expression.
        when: String,
        /// How urgent they are.
        priority: Priority,
    },
    /// Events for which a CEL expression gives a priority.
    Value {
        /// The expression.
        value: String,
    },
    /// Events with a priority in this header.
    Header {
        /// Its name, in lower case.
        name: String,
    },
}

/// Whether a type begins with a text. An event without a type begins with nothing.
pub fn begins(event_type: Option<&EventType>, prefix: &str) -> bool {
    event_type.is_some_and(|known| known.as_str().starts_with(prefix))
}

/// Whether a type ends with a text.
pub fn ends(event_type: Option<&EventType>, suffix: &str) -> bool {
    event_type.is_some_and(|known| known.as_str().ends_with(suffix))
}

/// A priority as a sender writes it: its number or its name, in any case. Anything else is none.
pub fn priority_from_header(value: &str) -> Option<Priority> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "critical" => Some(Priority::Critical),
        "2" | "high" => Some(Priority::High),
        "3" | "normal" => Some(Priority::Normal),
        "4" | "bulk" => Some(Priority::Bulk),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_holds_a_number_or_a_name() {
        let read = priority_from_header;
        assert_eq!(
            (read("1"), read(" HIGH "), read("Normal")),
            (Some(Priority::Critical), Some(Priority::High), Some(Priority::Normal))
        );
        for none in ["", "0", "5", "1.0", "+1", "01", "urgent", "1, 2", "critical!"] {
            assert_eq!(read(none), None, "{none:?}");
        }
    }

    #[test]
    fn types_begin_and_end() {
        let event_type = EventType::parse("payment.failed").ok();
        let known = event_type.as_ref();
        assert!(begins(known, "payment.") && ends(known, ".failed"));
        assert!(!begins(known, "failed") && !ends(known, "payment"));
        assert!(!begins(None, "p") && !ends(None, "d"));
    }
}
