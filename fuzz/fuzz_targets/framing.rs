//! Bytes of a connection are read the same however they arrive. The first byte says in which steps.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/serve/framing.rs"]
mod framing;

use framing::Framing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((step, bytes)) = bytes.split_first() else { return };
    let step = usize::from(*step).max(1);
    let whole = Framing::default().take(bytes).err();
    let mut framing = Framing::default();
    let mut parts = bytes.chunks(step).enumerate();
    let stepped = parts.find_map(|(n, part)| framing.take(part).err().map(|at| n * step + at));
    assert_eq!(stepped, whole);
});
