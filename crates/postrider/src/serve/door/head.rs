//! The head of a request that posts an event, when it has the shape that nearly all of them have.
//!
//! Whatever has another shape, or could be read in two ways, is none of ours: the server behind the door refuses it or
//! knows what to do.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use memchr::{memchr_iter, memchr2, memmem};
use std::mem::MaybeUninit;

/// How every such request begins.
const BEGINNING: &[u8] = b"POST /ingest/";
const END: &[u8] = b"\r\n\r\n";
/// A longer head is for the server behind, which has a limit of its own.
pub(super) const BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// Longer bodies are rare, and a connection is not to keep the room for one.
pub(super) const BODY_BYTES_MAX: usize = 64 * 1024;

/// What the first bytes of a request are.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are events, and none is kept")]
pub(super) enum Look {
    Event(Head),
    /// It may become one.
    Unfinished,
    Other,
}

/// A request that posts an event, without its body.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) parts: Parts,
    /// Its own length, with the empty line.
    pub(super) bytes: usize,
    pub(super) body_bytes: usize,
}

impl Head {
    /// What is posted to: a token in which nothing is to be decoded.
    pub(super) fn token(&self) -> &str {
        token(&self.parts.uri).unwrap_or_default()
    }
}

pub(super) fn look(bytes: &[u8]) -> Look {
    let begun = bytes.len().min(BEGINNING.len());
    if bytes[..begun] != BEGINNING[..begun] {
        return Look::Other;
    }
    match memmem::find(bytes, END) {
        Some(end) => read(&bytes[..end + END.len()]).map_or(Look::Other, Look::Event),
        None if bytes.len() > BYTES_MAX => Look::Other,
        None => Look::Unfinished,
    }
}

/// A head from its first byte to the empty line.
fn read(bytes: &[u8]) -> Option<Head> {
    let ends_as_it_should = |at: usize| at > 0 && bytes[at - 1] == b'\r';
    if bytes.len() > BYTES_MAX || !memchr_iter(b'\n', bytes).all(ends_as_it_should) {
        return None;
    }
    // Headers are slices of it: those of the connection's buffer would keep all of that in memory.
    let head = Bytes::copy_from_slice(bytes);
    let mut fields = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut []);
    let whole = parsed.parse_with_uninit_headers(&head, &mut fields).ok()?;
    if whole != httparse::Status::Complete(bytes.len()) || parsed.version != Some(1) {
        return None;
    }
    let body_bytes = body_bytes(parsed.headers)?;
    let uri = Uri::from_maybe_shared(head.slice_ref(parsed.path?.as_bytes())).ok()?;
    token(&uri)?;
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.headers = headers(&head, parsed.headers)?;
    parts.method = Method::POST;
    parts.uri = uri;
    Some(Head { parts, bytes: bytes.len(), body_bytes })
}

fn headers(head: &Bytes, fields: &[httparse::Header<'_>]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_maybe_shared(head.slice_ref(field.value)).ok()?);
    }
    Some(headers)
}

/// How long the body is, if that is said once and in digits, and nothing else is said of the body or the connection.
fn body_bytes(fields: &[httparse::Header<'_>]) -> Option<usize> {
    let mut length = None;
    for field in fields {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        // Names are told apart by their lengths first, which nearly always is enough.
        match field.name.len() {
            14 if is("content-length") && length.is_some() => return None,
            14 if is("content-length") => length = Some(digits(field.value)?),
            10 if is("connection") && !field.value.eq_ignore_ascii_case(b"keep-alive") => return None,
            17 if is("transfer-encoding") => return None,
            6 if is("expect") => return None,
            7 if is("upgrade") => return None,
            _ => {}
        }
    }
    length.filter(|bytes| *bytes <= BODY_BYTES_MAX)
}

fn digits(value: &[u8]) -> Option<usize> {
    let text =
        std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok()
}

fn token(uri: &Uri) -> Option<&str> {
    let token = uri.path().strip_prefix("/ingest/")?;
    let is_plain = !token.is_empty() && memchr2(b'/', b'%', token.as_bytes()).is_none();
    is_plain.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::super::super::framing::Framing;
    use super::*;
    use proptest::prelude::*;

    /// What is seen of it: the token, the bytes of head and body.
    fn seen(text: &str) -> String {
        match look(text.as_bytes()) {
            Look::Event(head) => format!("{} {} {}", head.token(), head.bytes, head.body_bytes),
            Look::Unfinished => "unfinished".to_owned(),
            Look::Other => "other".to_owned(),
        }
    }

    #[test]
    fn a_plain_post_is_seen_as_soon_as_its_head_is_there() {
        let head = "POST /ingest/abc?x=1 HTTP/1.1\r\nhost: a\r\nContent-Length: 12\r\nConnection: Keep-Alive\r\nx:\r\n\r\n";
        assert_eq!(seen(head), format!("abc {} 12", head.len()));
        assert_eq!(seen(&format!("{head}GET / HTTP/1.1\n\n")), format!("abc {} 12", head.len()));
        for end in 0..head.len() {
            assert_eq!(seen(&head[..end]), "unfinished", "{end}");
        }
        let Look::Event(Head { parts, .. }) = look(head.as_bytes()) else { panic!("it is one") };
        assert_eq!((parts.method, parts.uri.query()), (Method::POST, Some("x=1")));
        assert_eq!(
            (&parts.headers["host"], &parts.headers["x"]),
            (&HeaderValue::from_static("a"), &HeaderValue::from_static(""))
        );
    }

    #[test]
    fn what_has_another_shape_is_left_to_the_server_behind() {
        let with = |line: &str| format!("POST /ingest/abc HTTP/1.1\r\nhost: a\r\n{line}\r\n\r\n");
        assert_ne!(seen(&with("content-length: 3")), "other");
        for line in [
            "x: y",
            "content-length: 3\r\ncontent-length: 3",
            "content-length: 3, 3",
            "content-length: +3",
            "content-length:",
            "content-length: 0x3",
            "content-length: 65537",
            "content-length: 99999999999999999999",
            "content-length : 3",
            "content-length: 3\r\ntransfer-encoding: chunked",
            "transfer-encoding: chunked",
            "content-length: 3\r\nexpect: 100-continue",
            "content-length: 3\r\nupgrade: h2c",
            "content-length: 3\r\nconnection: close",
            "content-length: 3\r\nconnection: keep-alive\r\nconnection: content-length",
            "content-length: 3\r\n folded: b",
            "content-length: 3\r\n\tfolded",
            "content-length: 3\nx: y",
            "x: y\n\ncontent-length: 3",
            "content-length: 3\r\nx: a\rb",
            "content-length: 3\r\nx: a\0b",
            "content-length: 3\r\nno colon",
        ] {
            assert_eq!(seen(&with(line)), "other", "{line:?}");
        }
        for start in [
            "GET /ingest/abc HTTP/1.1",
            "POST /ingest/ HTTP/1.1",
            "POST /ingest/a/b HTTP/1.1",
            "POST /ingest/%61 HTTP/1.1",
            "POST /v1/events HTTP/1.1",
            "POST http://a/ingest/abc HTTP/1.1",
            "POST /ingest/abc HTTP/1.0",
            "POST /ingest/abc HTTP/2.0",
            "POST  /ingest/abc HTTP/1.1",
            "POST /ingest/abc",
            "\r\nPOST /ingest/abc HTTP/1.1",
        ] {
            assert_eq!(seen(&format!("{start}\r\ncontent-length: 3\r\n\r\n")), "other", "{start:?}");
        }
        let long = format!("x: {}\r\ncontent-length: 3", "y".repeat(BYTES_MAX));
        assert_eq!(seen(&with(&long)), "other");
        assert_eq!(seen(&with(&long)[..BYTES_MAX + 1]), "other");
        let many = "x: y\r\n".repeat(HEADERS_MAX);
        assert_eq!(seen(&with(&format!("{many}content-length: 3"))), "other");
    }

    /// Lines of heads, right, wrong and broken.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(
            &[
                "host: a\r\n",
                "content-length: 3\r\n",
                "Content-Length:0\r\n",
                "content-length:  12 \r\n",
                "content-length: 3\n",
                "x: y\n",
                "transfer-encoding: chunked\r\n",
                "connection: keep-alive\r\n",
                "connection: close\r\n",
                " folded\r\n",
                "x:\t\r\n",
                "x: \u{e9}\r\n",
                "\r\n",
                "\n",
                "\r",
                ":",
            ][..],
        );
        prop_oneof![6 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..20)]
    }

    proptest! {
        /// Both ways in have one reading of where a request ends.
        #[test]
        fn the_door_takes_nothing_that_the_strict_reading_does_not(lines in prop::collection::vec(line(), 0..4)) {
            // One length is there, so that what is beside it decides.
            let start = b"POST /ingest/abc HTTP/1.1\r\ncontent-length: 3\r\n".as_slice();
            let bytes = [start, &lines.concat(), b"\r\n"].concat();
            if let Look::Event(head) = look(&bytes) {
                let mut framing = Framing::default();
                prop_assert_eq!(framing.take(&bytes[..head.bytes]), Ok(()));
                // A body may hold anything; the line behind it must have its end.
                prop_assert_eq!(framing.take(&vec![b'\n'; head.body_bytes]), Ok(()));
                prop_assert_eq!(framing.take(b"\n"), Err(0));
            }
        }
    }
}
