//! No text breaks event types and patterns, and a pattern of one type takes that type. The first line is the type, the
//! rest the pattern.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_core::event::EventType;
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::priority_from_header;

fuzz_target!(|text: &str| {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let _ = priority_from_header(first);
    let event_type = EventType::parse(first).ok();
    if let Ok(pattern) = EventPattern::parse(rest) {
        pattern.matches(event_type.as_ref());
    }
    if let Some(event_type) = &event_type {
        let own = EventPattern::parse(first).expect("a type is a pattern");
        assert!(own.matches(Some(event_type)));
    }
});
