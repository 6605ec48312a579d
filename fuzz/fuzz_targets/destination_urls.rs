//! No text breaks the parser of destination URLs, and what is parsed is what is sent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_engine::send::DestinationUrl;

fuzz_target!(|text: &str| {
    let Ok(url) = DestinationUrl::parse(text) else { return };
    let again = DestinationUrl::parse(&url.whole.to_string()).expect("it was legal");
    assert_eq!(again.origin(), url.origin());
    assert_eq!(again.path, url.path);
    assert!(!url.authority.as_bytes().contains(&b'@'));
});
