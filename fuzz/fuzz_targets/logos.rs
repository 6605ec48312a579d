//! No text breaks the reader of logos, and what is kept of one is taken again as the same.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/api/logo.rs"]
mod logo;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use logo::{Logo, legal};

fuzz_target!(|text: &str| {
    let Some(kept) = legal(text) else { return };
    assert_eq!(legal(&kept).as_deref(), Some(kept.as_str()));
    if let Some(logo) = Logo::of_data_url(&kept) {
        let written = format!("data:{};base64,{}", logo.media_type, STANDARD.encode(&logo.bytes));
        assert_eq!(written, kept, "a picture has one text");
    } else {
        assert!(kept.starts_with("https://"), "{kept}");
    }
});
