//! No cookie breaks its reader or lets somebody in who was given none, and one that was given is read back. The first line
//! is what a browser sends, the rest what is noted.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/dashboard/session.rs"]
mod session;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use session::{Door, Sessions};
use std::time::SystemTime;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fuzz_target!(|bytes: &[u8]| {
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (sent, note) = bytes.split_at(line);
    for door in [Door::Dashboard, Door::Portal] {
        let sessions = Sessions::new(door, &[7; 32], "http://127.0.0.1:8080");
        let name = if door == Door::Dashboard { "postrider_session=" } else { "postrider_portal=" };
        for cookie in [sent.to_vec(), [name.as_bytes(), sent].concat()] {
            let Ok(cookie) = HeaderValue::from_bytes(&cookie) else { continue };
            let headers: HeaderMap = [(COOKIE, cookie)].into_iter().collect();
            assert!(sessions.read(&headers, NOW).is_none(), "nobody was given this");
        }
        let Ok(note) = std::str::from_utf8(note) else { continue };
        let given = sessions.cookie(&[1; 32], note, NOW);
        let pair = given.split(';').next().and_then(|pair| HeaderValue::from_str(pair).ok());
        let headers: HeaderMap = [(COOKIE, pair.expect("a cookie is plain text"))].into_iter().collect();
        let read = sessions.read(&headers, NOW).expect("it was given here");
        assert!(read.note == note && read.key_hash == [1; 32]);
    }
});
