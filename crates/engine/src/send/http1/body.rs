//! The body of an answer: where it ends, by its length, by its chunks (RFC 9112, 7.1), or by its connection.

use super::BadAnswer;
use bytes::{Buf, BytesMut};

/// The line of a chunk's size, with its extensions; a longer one is none.
const LINE_BYTES_MAX: usize = 4096;
/// All lines behind the last chunk. They are passed over.
const TRAILER_BYTES_MAX: usize = 16 * 1024;

pub(super) enum Body {
    /// So many bytes are to come.
    Length(u64),
    Chunked(Chunks),
    /// All that comes until the connection ends.
    Close,
}

/// What comes next in bytes that have arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The first so many of them are of the body. They are to be taken before it is asked again.
    Data(usize),
    /// Nothing before there are more of them.
    More,
    End,
}

impl Body {
    pub(super) fn chunked() -> Self {
        Body::Chunked(Chunks::Size)
    }

    pub(super) fn next(&mut self, bytes: &mut BytesMut) -> Result<Next, BadAnswer> {
        match self {
            Body::Length(0) => Ok(Next::End),
            Body::Length(left) => Ok(data(left, bytes)),
            Body::Chunked(chunks) => chunks.next(bytes),
            Body::Close if bytes.is_empty() => Ok(Next::More),
            Body::Close => Ok(Next::Data(bytes.len())),
        }
    }
}

fn data(left: &mut u64, bytes: &[u8]) -> Next {
    let here = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
    *left -= here as u64;
    if here == 0 { Next::More } else { Next::Data(here) }
}

/// What is expected next.
pub(super) enum Chunks {
    Size,
    Data(u64),
    DataEnd,
    /// Lines behind the last chunk, of so many bytes until now.
    Trailer(usize),
    End,
}

impl Chunks {
    fn next(&mut self, bytes: &mut BytesMut) -> Result<Next, BadAnswer> {
        loop {
            *self = match self {
                Chunks::Size => {
                    let Some(line) = line(bytes)? else { return Ok(Next::More) };
                    let size = size(&bytes[..line]).ok_or(BadAnswer::Chunk)?;
                    bytes.advance(line);
                    if size == 0 { Chunks::Trailer(0) } else { Chunks::Data(size) }
                }
                Chunks::Data(0) => Chunks::DataEnd,
                Chunks::Data(left) => return Ok(data(left, bytes)),
                Chunks::DataEnd => {
                    let Some(line) = line(bytes)? else { return Ok(Next::More) };
                    if !bytes[..line].trim_ascii().is_empty() {
                        return Err(BadAnswer::Chunk);
                    }
                    bytes.advance(line);
                    Chunks::Size
                }
                Chunks::Trailer(passed) => {
                    let Some(line) = line(bytes)? else { return Ok(Next::More) };
                    let is_last = bytes[..line].trim_ascii().is_empty();
                    let passed = *passed + line;
                    bytes.advance(line);
                    match is_last {
                        true => Chunks::End,
                        false if passed > TRAILER_BYTES_MAX => return Err(BadAnswer::Chunk),
                        false => Chunks::Trailer(passed),
                    }
                }
                Chunks::End => return Ok(Next::End),
            }
        }
    }
}

/// How long the first line is, with its end; nothing while it is not whole.
fn line(bytes: &[u8]) -> Result<Option<usize>, BadAnswer> {
    let within = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    match within.iter().position(|byte| *byte == b'\n') {
        Some(at) => Ok(Some(at + 1)),
        None if within.len() < LINE_BYTES_MAX => Ok(None),
        None => Err(BadAnswer::Chunk),
    }
}

/// The size that a line begins with. Extensions are passed over.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit())?;
    let (digits, rest) = line.split_at(digits);
    let rest = rest.trim_ascii();
    let is_plain = rest.is_empty() || rest.starts_with(b";");
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_plain)?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a body is, when its bytes come in such pieces, and what is left behind its end.
    fn read(mut body: Body, text: &[u8], cuts: &[usize]) -> Result<(Vec<u8>, Vec<u8>), BadAnswer> {
        let (mut here, mut found, mut from) = (BytesMut::new(), Vec::new(), 0);
        for to in cuts.iter().copied().chain([text.len()]) {
            here.extend_from_slice(&text[from..to]);
            from = to;
            loop {
                match body.next(&mut here)? {
                    Next::Data(bytes) => found.extend_from_slice(&here.split_to(bytes)),
                    Next::More => break,
                    Next::End => return Ok((found, [&here[..], &text[from..]].concat())),
                }
            }
        }
        panic!("it has no end: {:?}", String::from_utf8_lossy(text))
    }

    #[test]
    fn chunks_are_put_together() {
        for (text, expected) in [
            ("0\r\n\r\n", ""),
            (
                "4\r\nWiki\r\n6;name=\"v\"\r\npedia \r\n00E \r\nin \r\n\r\nchunks.\r\n0\r\n\r\n",
                "Wikipedia in \r\n\r\nchunks.",
            ),
            ("1\nx\n0\nTrailer: 1\r\nAnother: 2\n\n", "x"),
        ] {
            let found = read(Body::chunked(), format!("{text}next").as_bytes(), &[]).unwrap();
            assert_eq!(found, (expected.as_bytes().to_vec(), b"next".to_vec()), "{text:?}");
        }
    }

    #[test]
    fn what_are_no_chunks_is_refused() {
        let long_line = format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(LINE_BYTES_MAX));
        let long_trailer = format!("0\r\n{}\r\n", "a: b\r\n".repeat(TRAILER_BYTES_MAX / 6 + 2));
        for text in [
            "\r\n0\r\n\r\n",
            "-1\r\nx\r\n0\r\n\r\n",
            "0x1\r\nx\r\n0\r\n\r\n",
            "1 1\r\nx\r\n0\r\n\r\n",
            "1\r\nxy\r\n0\r\n\r\n",
            "10000000000000000\r\nx",
            &long_line,
            &long_trailer,
        ] {
            assert!(read(Body::chunked(), text.as_bytes(), &[]).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_in_which_pieces_a_body_comes(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..8),
            mut cuts in prop::collection::vec(0..200_usize, 0..6),
        ) {
            let whole = pieces.concat();
            let mut chunked = Vec::new();
            for piece in &pieces {
                chunked.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                chunked.extend_from_slice(piece);
                chunked.extend_from_slice(b"\r\n");
            }
            chunked.extend_from_slice(b"0\r\nT: 1\r\n\r\n");
            cuts.sort_unstable();
            for (body, text) in [(Body::Length(whole.len() as u64), &whole), (Body::chunked(), &chunked)] {
                let cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(text.len())).collect();
                prop_assert_eq!(read(body, text, &cuts).unwrap(), (whole.clone(), Vec::new()));
            }
        }

        #[test]
        fn whatever_comes_ends_or_is_refused_or_is_waited_for(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let (mut body, mut here) = (Body::chunked(), BytesMut::from(&bytes[..]));
            while let Ok(Next::Data(taken)) = body.next(&mut here) {
                prop_assert!(taken > 0 && taken <= here.len());
                here.advance(taken);
            }
        }
    }
}
