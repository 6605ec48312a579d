//! No check of an event by a schema costs more CPU than it is charged for, and none more than one may.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_engine::fuzzing;

fuzz_target!(|bytes: &[u8]| fuzzing::search_worst_schema(bytes));
