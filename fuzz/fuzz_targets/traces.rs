//! No `traceparent` and `tracestate` break their reader, and what is passed on is legal: it is read as the same trace.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_engine::fuzzing::trace;

fuzz_target!(|given: (&str, &str)| {
    let (parent, state) = given;
    let Some((parent, state)) = trace(parent, state) else { return };
    let again = trace(&parent, state.as_deref().unwrap_or_default());
    assert_eq!(again, Some((parent, state)));
});
