//! No expression and no body break compiling or evaluating. The first line is the expression, the rest the body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_engine::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (expression, body) = bytes.split_at(line);
    if let Ok(expression) = std::str::from_utf8(expression) {
        fuzzing::evaluate(expression, body);
    }
});
