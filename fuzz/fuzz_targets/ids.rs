//! No text breaks the parser of ids, and an id has one text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_core::id::EventId;

fuzz_target!(|text: &str| {
    if let Ok(id) = EventId::parse(text) {
        assert_eq!(id.to_string(), text.to_ascii_lowercase());
    }
});
