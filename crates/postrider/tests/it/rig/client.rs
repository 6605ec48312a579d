//! A client over one connection. It sends what it is given, right or wrong.

use super::answer::Answer;
use super::{contract, wire};
use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any answer takes, shorter than a person waits for a hanging test.
const DEADLINE: Duration = Duration::from_secs(40);

pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, DEADLINE)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        stream.set_write_timeout(Some(DEADLINE))?;
        stream.set_nodelay(true)?;
        Ok(Client { reader: BufReader::new(stream) })
    }

    /// Sends bytes and waits for an answer. One that came before all was sent counts as well.
    pub(crate) fn exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let sent = self.write(bytes);
        match self.answer() {
            Err(error) if sent.is_err() => Err(sent.err().unwrap_or(error)),
            answer => answer.inspect(|answer| contract::check(bytes, answer)),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        let message = wire::read(&mut self.reader)?;
        message.map(Answer::of).ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }

    /// Says that nothing more will be sent.
    pub(crate) fn end(&self) -> io::Result<()> {
        self.reader.get_ref().shutdown(Shutdown::Write)
    }
}

/// A request with a true Content-Length.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = head(method, path, headers);
    bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    bytes
}

/// The same in chunks.
pub(crate) fn chunked_request(path: &str, body: &[u8], chunk_bytes: usize) -> Vec<u8> {
    let mut bytes = head("POST", path, &[("transfer-encoding", "chunked")]);
    bytes.extend(b"\r\n");
    for chunk in body.chunks(chunk_bytes) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

/// The beginning of a request, without the blank line that ends it.
pub(crate) fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    text.into_bytes()
}
