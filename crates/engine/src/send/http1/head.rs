//! The head of an answer: what it says, how its body ends, and whether its connection may be used again.

use super::BadAnswer;
use super::body::Body;
use httparse::{Header, ParserConfig, Response, Status};
use postrider_core::limits::RESPONSE_HEADER_BYTES_MAX;
use postrider_store::Headers;
use std::mem::MaybeUninit;

/// Headers of an answer; one with more is none.
const HEADERS_MAX: usize = 100;
/// Bytes of a head; one with more is none.
pub(super) const BYTES_MAX: usize = 64 * 1024;

pub(crate) struct Head {
    pub(crate) status: u16,
    /// As they may be kept and shown.
    pub(crate) headers: Headers,
    pub(crate) retry_after: Option<Vec<u8>>,
}

/// What bytes begin with.
pub(super) enum Begun {
    /// Less than a head.
    Part,
    /// An announcement of so many bytes, such as `100 Continue`.
    Announcement(usize),
    /// A head of so many bytes.
    Answer(Answer, usize),
}

pub(super) struct Answer {
    pub(super) head: Head,
    pub(super) body: Body,
    /// The receiver will take another request over the same connection.
    pub(super) stays_open: bool,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Begun, BadAnswer> {
    let mut room = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_MAX];
    let mut found = Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut found, bytes, &mut room);
    let Status::Complete(length) = parsed.map_err(BadAnswer::Head)? else {
        return if bytes.len() < BYTES_MAX { Ok(Begun::Part) } else { Err(BadAnswer::LongHead) };
    };
    let status = found.code.expect("a whole head has a status");
    if matches!(status, 100 | 102..=199) {
        return Ok(Begun::Announcement(length));
    }
    let framing = Framing::of(found.headers)?;
    let stays_open = found.version == Some(1) && framing.stays_open && status != 101;
    let body = match status {
        101 | 204 | 304 => Body::Length(0),
        _ => framing.body(),
    };
    let stays_open = stays_open && !matches!(body, Body::Close);
    let retry_after = found.headers.iter().find(|header| header.name.eq_ignore_ascii_case("retry-after"));
    let retry_after = retry_after.map(|header| header.value.to_vec());
    let head = Head { status, headers: shown(found.headers), retry_after };
    Ok(Begun::Answer(Answer { head, body, stays_open }, length))
}

fn shown(found: &[Header<'_>]) -> Headers {
    let mut headers = Headers::with_capacity(256);
    for Header { name, value } in found {
        if headers.as_text().len() + name.len() + value.len() > RESPONSE_HEADER_BYTES_MAX {
            break;
        }
        headers.push_bytes(&name.to_ascii_lowercase(), value);
    }
    headers
}

/// What the headers say of the body and of the connection (RFC 9112, 6.3 and 9.3).
struct Framing {
    length: Option<u64>,
    /// There is a `Transfer-Encoding`; whether its last is `chunked`.
    chunked: Option<bool>,
    stays_open: bool,
}

impl Framing {
    fn of(headers: &[Header<'_>]) -> Result<Framing, BadAnswer> {
        let mut framing = Framing { length: None, chunked: None, stays_open: true };
        for Header { name, value } in headers {
            if name.eq_ignore_ascii_case("content-length") {
                for listed in list(value) {
                    let length = length(listed).ok_or(BadAnswer::Length)?;
                    let known = framing.length.replace(length);
                    if known.is_some_and(|known| known != length) {
                        return Err(BadAnswer::Length);
                    }
                    framing.stays_open &= known.is_none();
                }
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                let last = list(value).last().unwrap_or_default();
                framing.chunked = Some(last.eq_ignore_ascii_case(b"chunked"));
            } else if name.eq_ignore_ascii_case("connection") {
                framing.stays_open &= !list(value).any(|option| option.eq_ignore_ascii_case(b"close"));
            }
        }
        // Who says a length twice or in both ways may have been talked into it, and the next answer may be somebody
        // else's.
        framing.stays_open &= framing.length.is_none() || framing.chunked.is_none();
        Ok(framing)
    }

    fn body(&self) -> Body {
        match (self.chunked, self.length) {
            (Some(true), _) => Body::chunked(),
            (Some(false), _) | (None, None) => Body::Close,
            (None, Some(length)) => Body::Length(length),
        }
    }
}

fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// Digits alone: a sign would be taken for a part of the number otherwise.
fn length(text: &[u8]) -> Option<u64> {
    let digits = text.iter().all(u8::is_ascii_digit).then_some(text)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> (Answer, usize) {
        match parse(text.as_bytes()) {
            Ok(Begun::Answer(answer, length)) => (answer, length),
            Ok(_) => panic!("no answer: {text:?}"),
            Err(error) => panic!("{error}: {text:?}"),
        }
    }

    #[test]
    fn how_a_body_ends_and_whether_its_connection_stays_open() {
        const CHUNKED: &str = "Transfer-Encoding: gzip, Chunked\r\n";
        for (status, headers, expected, stays_open) in [
            ("1.1 200", "", "close", false),
            ("1.1 200", "Content-Length: 5\r\n", "5", true),
            ("1.1 200", "Content-Length: 5, 5\r\n", "5", false),
            ("1.1 200", "Content-Length: 5\r\ncontent-length: 5\r\n", "5", false),
            ("1.1 200", "Content-Length: 5\r\nConnection: x, Close\r\n", "5", false),
            ("1.0 200", "Content-Length: 5\r\n", "5", false),
            ("1.1 200", CHUNKED, "chunked", true),
            ("1.1 200", "Transfer-Encoding: chunked, gzip\r\n", "close", false),
            ("1.1 200", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "chunked", false),
            ("1.1 204", "Content-Length: 5\r\n", "0", true),
            ("1.1 304", CHUNKED, "0", true),
            ("1.1 101", "Upgrade: x\r\n", "0", false),
        ] {
            let text = format!("HTTP/{status} Any\r\n{headers}\r\n");
            let (found, length) = answer(&text);
            let body = match found.body {
                Body::Length(length) => length.to_string(),
                Body::Chunked(_) => "chunked".into(),
                Body::Close => "close".into(),
            };
            assert_eq!((&body[..], found.stays_open, length), (expected, stays_open, text.len()), "{text:?}");
        }
    }

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let text = "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nX-Case: Kept\r\nContent-Length: 0\r\n\r\nmore";
        for end in 0..text.len() - "more".len() {
            assert!(matches!(parse(&text.as_bytes()[..end]), Ok(Begun::Part)), "{end}");
        }
        let (Answer { head, .. }, length) = answer(text);
        assert_eq!((head.status, length, head.retry_after), (503, text.len() - 4, Some(b"7".to_vec())));
        assert!(head.headers.has("x-case", "Kept"), "{:?}", head.headers);
    }

    #[test]
    fn announcements_are_no_answers() {
        for status in [100, 102, 103, 199] {
            let text = format!("HTTP/1.1 {status} Soon\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
            let found = parse(text.as_bytes());
            assert!(
                matches!(found, Ok(Begun::Announcement(length)) if text[length..].starts_with("HTTP/1.1 200"))
            );
        }
    }

    #[test]
    fn what_is_no_head_is_refused() {
        for text in [
            "ICY 200 OK\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: nameless\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: 1\r\n".repeat(HEADERS_MAX + 1));
        assert!(parse(many.as_bytes()).is_err());
        assert!(matches!(
            parse(&[&b"HTTP/1.1 200 "[..], &[b'x'; BYTES_MAX]].concat()),
            Err(BadAnswer::LongHead)
        ));
    }
}
