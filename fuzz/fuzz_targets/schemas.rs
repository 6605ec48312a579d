//! No schema and no body break the check of event types. The first line is the schema, the rest the body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_engine::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (schema, body) = bytes.split_at(line);
    if let Ok(schema) = serde_json::from_slice(schema) {
        fuzzing::check_schema(&schema, body);
    }
});
