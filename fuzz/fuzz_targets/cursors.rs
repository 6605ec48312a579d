//! No text breaks the parser of cursors, and one that is taken is written the same again.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/api/cursor.rs"]
mod cursor;
#[allow(dead_code, reason = "stands in for more than is used here")]
#[path = "../stand_in/error.rs"]
mod error;

use cursor::List;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok([one]) = cursor::parse::<1>(List::Events, text) {
        assert_eq!(cursor::parse::<1>(List::Events, &cursor::text(List::Events, [one])).ok(), Some([one]));
        assert!(cursor::parse::<1>(List::Routes, text).is_err(), "a place in another list");
    }
    if let Ok(two) = cursor::parse::<2>(List::Queue, text) {
        assert_eq!(cursor::parse::<2>(List::Queue, &cursor::text(List::Queue, two)).ok(), Some(two));
    }
});
