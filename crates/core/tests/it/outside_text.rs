//! No text from outside breaks a parser, and what is taken is written as it was read.

use postrider_core::delivery::Priority;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, EventId};
use postrider_core::limits::RETRY_AFTER_MAX;
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::{begins, ends, priority_from_header};
use postrider_core::retry_after;
use postrider_core::time::Timestamp;
use proptest::prelude::*;
use std::time::Duration;

/// Anything, and what comes near to an id, a type, a pattern, a time or a number.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(evt|acc)_[0-9a-zA-Z]{12,14}",
        "[a-z*.]{0,12}",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,12})?([zZ]|[+-][0-9]{2}:[0-9]{2})?",
        "[A-Z][a-z]{2}, [0-9]{1,2} (Jan|Feb|Dec|xxx) [0-9]{1,5} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT",
        "[0-9+-]{0,24}",
    ]
}

/// A pattern tried in the plainest way, word by word.
fn matches_plainly(pattern: &[&str], words: &[&str]) -> bool {
    match pattern.split_first() {
        None => words.is_empty(),
        Some((&"**", rest)) => (0..=words.len()).any(|skipped| matches_plainly(rest, &words[skipped..])),
        Some((first, rest)) => words
            .split_first()
            .is_some_and(|(word, words)| (*first == "*" || first == word) && matches_plainly(rest, words)),
    }
}

proptest! {
    #[test]
    fn types_and_patterns_are_kept_as_they_are(one in text(), other in text()) {
        let event_type = EventType::parse(&one).ok();
        prop_assert!(event_type.as_ref().is_none_or(|kept| kept.as_str() == one));
        let pattern = EventPattern::parse(&other).ok();
        prop_assert!(pattern.as_ref().is_none_or(|kept| kept.as_str() == other));
        prop_assert!(event_type.is_none() || EventPattern::parse(&one).is_ok(), "a type is a pattern of itself");
        let _ = (begins(event_type.as_ref(), &other), ends(event_type.as_ref(), &other));
    }

    #[test]
    fn a_pattern_takes_what_it_says(
        pattern in prop::collection::vec(prop_oneof!["a", "b", "\\*", "\\*\\*"], 1..7),
        words in prop::collection::vec(prop_oneof!["a", "b"], 1..7),
    ) {
        let pattern_words: Vec<&str> = pattern.iter().map(String::as_str).collect();
        let type_words: Vec<&str> = words.iter().map(String::as_str).collect();
        let event_type = EventType::parse(&words.join(".")).unwrap();
        let taken = EventPattern::parse(&pattern.join(".")).unwrap().matches(Some(&event_type));
        prop_assert_eq!(taken, pattern_words == ["*"] || matches_plainly(&pattern_words, &type_words));
    }

    #[test]
    fn an_id_has_one_number_and_a_number_one_id(text in text(), number in 0..1u64 << 63) {
        prop_assert_eq!(EventId::parse(&EventId::from_u64(number).to_string()), Ok(EventId::from_u64(number)));
        let _ = AccountId::parse(&text);
        if let Ok(id) = EventId::parse(&text) {
            prop_assert_eq!(id.to_string(), text.to_ascii_lowercase());
        }
    }

    #[test]
    fn a_time_is_read_back(text in text(), ms in 0..=Timestamp::MAX.unix_ms()) {
        let _ = Timestamp::parse_rfc3339(&text);
        let at = Timestamp::from_unix_ms(ms);
        prop_assert_eq!(Timestamp::parse_rfc3339(&at.to_string()), Some(at));
    }

    #[test]
    fn retry_after_is_never_longer_than_a_day(bytes in prop::collection::vec(any::<u8>(), 0..40), text in text()) {
        let now = Timestamp::from_unix_ms(1_768_464_000_000);
        for value in [&bytes[..], text.as_bytes()] {
            prop_assert!(retry_after::parse(value, now).is_none_or(|wait| wait <= RETRY_AFTER_MAX));
        }
        let seconds = u64::from(bytes.len() as u32);
        prop_assert_eq!(retry_after::parse(seconds.to_string().as_bytes(), now), Some(Duration::from_secs(seconds)));
    }

    #[test]
    fn a_priority_in_a_header_is_one_of_four(text in text(), number in 0..9u64) {
        let _ = priority_from_header(&text);
        prop_assert_eq!(priority_from_header(&number.to_string()), Priority::from_number(number));
    }
}
