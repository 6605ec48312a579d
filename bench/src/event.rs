//! The body of a benchmark event: when it was sent and which one it is, in front of as much padding as the
//! size asks for. The receiver reads the front only.

use bytes::Bytes;
use std::time::{SystemTime, UNIX_EPOCH};

/// Sequence numbers stay below this, so that the receiver can keep one bit for each (8 MiB).
pub(crate) const EVENTS_MAX: u64 = 1 << 26;

const BEFORE_SENT: &[u8] = br#"{"sent_ns":"#;
const BEFORE_SEQ: &[u8] = br#","seq":"#;
const BEFORE_LOAD: &[u8] = br#","load":"#;

/// What the front of a body says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) sent_ns: u64,
    pub(crate) seq: u64,
    /// Which of the loads that send at the same time; each counts its own events.
    pub(crate) load: u8,
}

impl Stamp {
    /// The body of `size_bytes`; longer where the stamp alone does not fit.
    pub(crate) fn body(self, size_bytes: usize) -> Bytes {
        let Stamp { sent_ns, seq, load } = self;
        let mut body = format!(r#"{{"sent_ns":{sent_ns},"seq":{seq},"load":{load},"pad":""#).into_bytes();
        let end = br#""}"#;
        body.resize(body.len().max(size_bytes.saturating_sub(end.len())), b'x');
        body.extend_from_slice(end);
        body.into()
    }

    /// `None` where the body is not a benchmark event.
    pub(crate) fn read(body: &[u8]) -> Option<Stamp> {
        let (sent_ns, rest) = leading_number(body.strip_prefix(BEFORE_SENT)?)?;
        let (seq, rest) = leading_number(rest.strip_prefix(BEFORE_SEQ)?)?;
        let (load, _) = leading_number(rest.strip_prefix(BEFORE_LOAD)?)?;
        Some(Stamp { sent_ns, seq, load: u8::try_from(load).ok()? })
    }
}

/// Now, by the clock that all processes of one machine share.
pub(crate) fn unix_now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set past 1970");
    u64::try_from(since.as_nanos()).expect("the year is before 2554")
}

fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    Some((number, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_the_size_asked_for_is_json_and_gives_its_stamp_back() {
        for (sent_ns, seq, load) in
            [(0, 0, 0), (1_790_000_000_000_000_000, 99_999, 1), (u64::MAX, u64::MAX, u8::MAX)]
        {
            let stamp = Stamp { sent_ns, seq, load };
            let body = stamp.body(1024);
            assert_eq!(body.len(), 1024);
            assert_eq!(Stamp::read(&body), Some(stamp));
            let json: serde_json::Value = serde_json::from_slice(&body).expect("the body is JSON");
            assert_eq!(json["seq"], seq);
        }
    }

    #[test]
    fn a_size_too_small_for_the_stamp_gives_no_padding() {
        let body = Stamp { sent_ns: 7, seq: 1, load: 2 }.body(0);
        assert_eq!(&body[..], br#"{"sent_ns":7,"seq":1,"load":2,"pad":""}"#);
    }

    #[test]
    fn a_body_that_is_no_benchmark_event_has_no_stamp() {
        let too_large = format!(r#"{{"sent_ns":{}0,"seq":1}}"#, u64::MAX);
        let no_load = r#"{"sent_ns":1,"seq":1,"load":256}"#;
        for body in [
            "",
            "{}",
            r#"{"sent_ns":}"#,
            r#"{"sent_ns":1}"#,
            r#"{"sent_ns":1,"seq":"a"}"#,
            &too_large,
            no_load,
        ] {
            assert_eq!(Stamp::read(body.as_bytes()), None, "{body}");
        }
    }
}
