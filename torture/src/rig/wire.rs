//! HTTP/1.1 as far as these tests speak it, by hand, so that a test can also speak it badly.

use std::io::{self, BufRead, ErrorKind, Read};

/// A request or an answer.
#[derive(Debug)]
pub struct Message {
    /// Of a request or of an answer.
    pub first_line: String,
    /// All that came.
    pub headers: Headers,
    /// Without its framing.
    pub body: Vec<u8>,
}

/// Names in lower case, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Headers(pub Vec<(String, String)>);

impl Headers {
    /// The first of a name, which is given in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Reads one message; `None` when the other side has closed before the first byte of it.
///
/// A body is as long as Content-Length says or comes in chunks, and is empty without either.
pub fn read(from: &mut impl BufRead) -> io::Result<Option<Message>> {
    let first_line = line(from)?;
    if first_line.is_empty() {
        return Ok(None);
    }
    let mut headers = Headers::default();
    loop {
        let line = line(from)?;
        if line.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.0.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if headers.get("transfer-encoding") == Some("chunked") {
        let body = chunks(from)?;
        return Ok(Some(Message { first_line: first_line.trim_end().to_owned(), headers, body }));
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some(Message { first_line: first_line.trim_end().to_owned(), headers, body }))
}

/// A body in chunks, whole or not at all.
fn chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(line(from)?.trim_end(), 16);
        let size = size.map_err(|_| io::Error::from(ErrorKind::UnexpectedEof))?;
        let begun = body.len();
        body.resize(begun + size + 2, 0);
        from.read_exact(&mut body[begun..])?;
        body.truncate(begun + size);
        if size == 0 {
            return Ok(body);
        }
    }
}

/// One line with its end, empty at the end of the stream.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(1 << 20).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
