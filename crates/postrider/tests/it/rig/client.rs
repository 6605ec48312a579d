//! A client over one connection. It sends what it is given, right or wrong, and holds answers against the description.

use super::answer::Answer;
use super::contract;
use postrider_torture::rig::client as plain;
pub(crate) use postrider_torture::rig::client::{head, request};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Longer than any answer takes, shorter than a person waits for a hanging test.
const DEADLINE: Duration = Duration::from_secs(40);

pub(crate) struct Client(plain::Client);

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        plain::Client::connect(address, DEADLINE).map(Client)
    }

    pub(crate) fn connect_from(from: Ipv4Addr, address: SocketAddr) -> io::Result<Self> {
        plain::Client::connect_from(from, address, DEADLINE).map(Client)
    }

    /// Sends bytes and waits for an answer. One that came before all was sent counts as well.
    pub(crate) fn exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let answer = self.0.exchange(bytes).map(Answer::of);
        answer.inspect(|answer| contract::check(bytes, answer))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes)
    }

    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        self.0.answer().map(Answer::of)
    }

    /// Says that nothing more will be sent.
    pub(crate) fn end(&self) -> io::Result<()> {
        self.0.end()
    }
}

/// A request in chunks.
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
