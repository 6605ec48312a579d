//! No bytes break the parsers of times, and `Retry-After` is never longer than its limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_core::limits::RETRY_AFTER_MAX;
use postrider_core::retry_after;
use postrider_core::time::Timestamp;

fuzz_target!(|bytes: &[u8]| {
    let wait = retry_after::parse(bytes, Timestamp::from_unix_ms(1_768_464_000_000));
    assert!(wait.is_none_or(|wait| wait <= RETRY_AFTER_MAX));
    let at = std::str::from_utf8(bytes).ok().and_then(Timestamp::parse_rfc3339);
    if let Some(at) = at {
        assert_eq!(Timestamp::parse_rfc3339(&at.to_string()), Some(at));
    }
});
