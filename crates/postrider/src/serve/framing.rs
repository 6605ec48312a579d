//! Where one request ends and the next begins, read strictly. What two readers could read in two ways is refused,
//! because that is how a request is hidden in the body of another.
//!
//! The server behind it understands more than it should: both lengths at once, lines that end without a carriage
//! return. So it gets to see only what has one meaning.

/// What is kept of a line; the headers that count are far shorter.
const LINE_BYTES_MAX: usize = 256;
/// 2⁶⁰ bytes, beyond any limit on a body.
const CHUNK_SIZE_DIGITS_MAX: usize = 15;
/// What follows the bytes of a chunk.
const CHUNK_END_BYTES: u64 = 2;

/// Follows one connection's bytes.
#[derive(Default)]
pub(super) struct Framing {
    part: Part,
    /// The line so far, cut at [`LINE_BYTES_MAX`].
    line: Vec<u8>,
    line_bytes: usize,
    last_byte: u8,
    /// Of a head whose end is not there yet.
    head_bytes: usize,
}

/// What the next bytes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head(Length),
    /// So many bytes until the next request.
    Body(u64),
    ChunkSize,
    /// So many bytes until the next size.
    Chunk(u64),
    Trailer,
}

impl Default for Part {
    fn default() -> Self {
        Part::Head(Length::Unsaid)
    }
}

/// What a head has said so far of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Unsaid,
    Bytes(u64),
    Chunked,
}

struct Refused;

impl Framing {
    /// Takes the next bytes. When they cannot be taken, gives the place of the first that must not be passed on.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        while at < bytes.len() {
            at += match &mut self.part {
                Part::Body(left) | Part::Chunk(left) if *left > 0 => {
                    let step = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    *left -= step as u64;
                    step
                }
                Part::Body(_) => self.begin(Part::default()),
                Part::Chunk(_) => self.begin(Part::ChunkSize),
                Part::Head(_) | Part::ChunkSize | Part::Trailer => {
                    self.take_line(&bytes[at..]).map_err(|n| at + n)?
                }
            };
        }
        Ok(())
    }

    /// Whether no byte of a request is there whose end is not.
    pub(super) fn is_between_requests(&self) -> bool {
        match self.part {
            Part::Head(_) => self.head_bytes == 0,
            Part::Body(left) => left == 0,
            _ => false,
        }
    }

    /// How many of the bytes taken last are of a head whose end is not there yet.
    pub(super) fn head_bytes(&self) -> usize {
        self.head_bytes
    }

    fn begin(&mut self, part: Part) -> usize {
        self.part = part;
        0
    }

    /// Up to the end of the line, if it is there.
    fn take_line(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        let end = memchr::memchr(b'\n', bytes);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        let room = LINE_BYTES_MAX - self.line.len();
        self.line.extend_from_slice(&text[..text.len().min(room)]);
        self.line_bytes += text.len();
        self.last_byte = text.last().copied().unwrap_or(self.last_byte);
        if matches!(self.part, Part::Head(_)) {
            self.head_bytes += text.len();
        }
        let Some(end) = end else { return Ok(bytes.len()) };
        if matches!(self.part, Part::Head(_)) {
            let is_last = self.line_bytes == b"\r".len();
            self.head_bytes = if is_last { 0 } else { self.head_bytes + b"\n".len() };
        }
        let next = if self.last_byte == b'\r' { self.after_line() } else { Err(Refused) };
        self.part = next.map_err(|Refused| end)?;
        self.line.clear();
        (self.line_bytes, self.last_byte) = (0, 0);
        Ok(end + 1)
    }

    fn after_line(&self) -> Result<Part, Refused> {
        let whole = self.line_bytes <= LINE_BYTES_MAX;
        let line = if whole { &self.line[..self.line_bytes - 1] } else { &self.line[..] };
        match self.part {
            Part::Head(length) if line.is_empty() => Ok(match length {
                Length::Unsaid => Part::default(),
                Length::Bytes(bytes) => Part::Body(bytes),
                Length::Chunked => Part::ChunkSize,
            }),
            Part::Head(length) => match length.after(line)? {
                // Of a line that was cut nothing may depend.
                said if !whole && said != length => Err(Refused),
                said => Ok(Part::Head(said)),
            },
            Part::ChunkSize => match chunk_size(line)? {
                0 => Ok(Part::Trailer),
                bytes => Ok(Part::Chunk(bytes + CHUNK_END_BYTES)),
            },
            Part::Trailer if line.is_empty() => Ok(Part::default()),
            part => Ok(part),
        }
    }
}

impl Length {
    /// A length may be said once, in one way.
    fn after(self, line: &[u8]) -> Result<Self, Refused> {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return Err(Refused);
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Ok(self) };
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        let said = if name.eq_ignore_ascii_case(b"content-length") {
            Length::Bytes(number(value, 10).ok_or(Refused)?)
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Refused);
            }
            Length::Chunked
        } else {
            return Ok(self);
        };
        if self == Length::Unsaid { Ok(said) } else { Err(Refused) }
    }
}

/// A size in hexadecimal digits, and perhaps an extension that means nothing to us.
fn chunk_size(line: &[u8]) -> Result<u64, Refused> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    if digits.len() > CHUNK_SIZE_DIGITS_MAX {
        return Err(Refused);
    }
    number(digits, 16).ok_or(Refused)
}

/// Digits and nothing else; the standard library would also take a sign.
fn number(text: &[u8], radix: u32) -> Option<u64> {
    let text =
        std::str::from_utf8(text).ok().filter(|text| text.chars().all(|digit| digit.is_digit(radix)))?;
    u64::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads it at once, byte by byte, and in two parts; gives the bytes that may be passed on.
    fn passed(text: &str) -> usize {
        let bytes = text.as_bytes();
        let passed = Framing::default().take(bytes).err().unwrap_or(bytes.len());
        for step in [1, 2, 7] {
            let mut framing = Framing::default();
            let parts = bytes.chunks(step).enumerate();
            let refused =
                parts.map(|(n, part)| framing.take(part).map_err(|at| n * step + at)).find_map(Result::err);
            assert_eq!(refused.unwrap_or(bytes.len()), passed, "{text:?} in steps of {step}");
        }
        passed
    }

    fn check_taken(text: &str) {
        assert_eq!(passed(text), text.len(), "{text:?}");
    }

    /// The place is that of the line end after the part that is given.
    fn check_refused(before: &str, after: &str) {
        assert_eq!(passed(&format!("{before}{after}")), before.len(), "{before:?} and {after:?}");
    }

    #[test]
    fn requests_with_one_meaning_are_taken_one_after_another() {
        check_taken("GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n");
        check_taken(
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\n\n\n\nPOST / HTTP/1.1\r\ncontent-length:0\r\n\r\n",
        );
        check_taken(
            "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n4;a=b\r\n\n\n\n\n\r\n0\r\nx: y\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        );
        check_taken("\r\n\r\nGET / HTTP/1.1\r\n\r\n");
        check_taken(&format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(5000)));
    }

    #[test]
    fn a_body_is_not_looked_into_and_what_follows_it_is() {
        let head = "POST / HTTP/1.1\r\ncontent-length: 7\r\n\r\n";
        check_taken(&format!("{head}GET /\n\n"));
        check_refused(&format!("{head}GET /\n\nGET / HTTP/1.1"), "\n\r\n");
        let chunked = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        check_refused(&format!("{chunked}2\r\nab\r\n0\r\n\r\nGET / HTTP/1.1"), "\n\r\n");
    }

    #[test]
    fn a_head_with_two_meanings_is_refused_before_it_ends() {
        for headers in [
            "content-length: 4\r\ntransfer-encoding: chunked\r",
            "transfer-encoding: chunked\r\ncontent-length: 4\r",
            "content-length: 4\r\ncontent-length: 5\r",
            "content-length: 4\r\ncontent-length: 4\r",
            "content-length: 4, 4\r",
            "content-length: +4\r",
            "content-length: 0x4\r",
            "content-length:\r",
            "content-length: 99999999999999999999\r",
            "content-length : 4\r\ncontent-length: 5\r",
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r",
            "transfer-encoding: chunked, identity\r",
            "transfer-encoding: identity\r",
            "transfer-encoding: gzip, chunked\r",
            "transfer-encoding: xchunked\r",
            "transfer-encoding: \"chunked\"\r",
            "x: a\r\n folded: b\r",
            "x: a\r\n\tfolded\r",
            "x: a",
            "x: a\r\n",
            "content-length: 4",
        ] {
            check_refused(&format!("POST / HTTP/1.1\r\nhost: a\r\n{headers}"), "\n\r\n0\r\n\r\n");
        }
        check_refused("POST / HTTP/1.1", "\nhost: a\r\n\r\n");
        let padded = format!("POST / HTTP/1.1\r\ncontent-length: {}4\r", " ".repeat(LINE_BYTES_MAX));
        check_refused(&padded, "\n\r\n");
    }

    #[test]
    fn a_chunk_size_is_digits() {
        for size in ["", "x", "-1", "+1", " 1", "1 ", "0x1", "1\t;a", "1\r\r", "fffffffffffffffff", "1_0"] {
            check_refused(
                &format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{size}\r"),
                "\na\r\n",
            );
        }
        check_refused("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1", "\na\r\n");
        check_refused("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1;a", "\na\r\n");
        check_refused("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: y", "\n\r\n");
    }

    /// Pieces of requests, whole and broken, and bytes that are none.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(
            &[
                "GET / HTTP/1.1\r\n",
                "POST / HTTP/1.1\r\n",
                "host: a\r\n",
                "content-length: 3\r\n",
                "Content-Length:0\r\n",
                "transfer-encoding: chunked\r\n",
                "\r\n",
                "\n",
                "\r",
                "3\r\nabc\r\n",
                "0\r\n\r\n",
                "abc",
                " folded\r\n",
                ":",
            ][..],
        );
        prop_oneof![4 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..40)]
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_the_same_however_they_arrive(
            pieces in prop::collection::vec(piece(), 0..12),
            cuts in prop::collection::vec(1..20usize, 1..8),
        ) {
            let bytes = pieces.concat();
            let whole = Framing::default().take(&bytes).err().unwrap_or(bytes.len());
            let (mut framing, mut at) = (Framing::default(), 0);
            for cut in cuts.iter().cycle() {
                let end = (at + cut).min(bytes.len());
                match framing.take(&bytes[at..end]) {
                    Err(refused) => { at += refused; break }
                    Ok(()) if end == bytes.len() => { at = end; break }
                    Ok(()) => at = end,
                }
            }
            prop_assert_eq!(at, whole);
        }

        #[test]
        fn what_a_body_holds_never_matters(body in prop::collection::vec(any::<u8>(), 0..200), step in 1..64usize) {
            let sized = format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
            let mut chunked = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            for chunk in body.chunks(step) {
                chunked.extend(format!("{:x}\r\n", chunk.len()).bytes().chain(chunk.iter().copied()).chain(*b"\r\n"));
            }
            chunked.extend(b"0\r\n\r\n");
            for request in [[sized.as_bytes(), &body].concat(), chunked] {
                let mut framing = Framing::default();
                prop_assert_eq!(framing.take(&request), Ok(()));
                prop_assert_eq!(framing.take(b"GET / HTTP/1.1\n"), Err(14), "the next request is read as one");
            }
        }
    }
}
