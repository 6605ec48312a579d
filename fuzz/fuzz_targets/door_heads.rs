//! The door takes nothing that the strict reading refuses, and both say the same of where a request ends. The input is
//! what follows the beginning that every event has.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/serve/framing.rs"]
mod framing;
#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/serve/door/head.rs"]
mod head;

use framing::Framing;
use head::{Look, look};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|rest: &[u8]| {
    let bytes = [b"POST /ingest/", rest].concat();
    let Look::Event(head) = look(&bytes) else { return };
    assert!(!head.token().is_empty() && head.bytes <= bytes.len());
    let mut framing = Framing::default();
    assert_eq!(framing.take(&bytes[..head.bytes]), Ok(()));
    // A body may hold anything; the line behind it must have its end.
    assert_eq!(framing.take(&vec![b'\n'; head.body_bytes]), Ok(()));
    assert_eq!(framing.take(b"\n"), Err(0));
});
