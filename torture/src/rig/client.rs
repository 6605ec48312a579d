//! A client over one connection. It sends what it is given, right or wrong.

use super::wire::{self, Message};
use rustix::net::{AddressFamily, SocketType};
use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpStream};
use std::time::Duration;

/// A connection.
pub struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    /// Connects; nothing that is waited for takes longer than the deadline.
    pub fn connect(address: SocketAddr, deadline: Duration) -> io::Result<Self> {
        Client::over(TcpStream::connect_timeout(&address, deadline)?, deadline)
    }

    /// Connects to this machine from another of its loopback addresses.
    pub fn connect_from(from: Ipv4Addr, address: SocketAddr, deadline: Duration) -> io::Result<Self> {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
        rustix::net::bind(&socket, &SocketAddrV4::new(from, 0))?;
        rustix::net::connect(&socket, &address)?;
        Client::over(socket.into(), deadline)
    }

    fn over(stream: TcpStream, deadline: Duration) -> io::Result<Self> {
        stream.set_read_timeout(Some(deadline))?;
        stream.set_write_timeout(Some(deadline))?;
        stream.set_nodelay(true)?;
        Ok(Client { reader: BufReader::new(stream) })
    }

    /// Sends bytes and waits for an answer. One that came before all was sent counts as well.
    pub fn exchange(&mut self, bytes: &[u8]) -> io::Result<Message> {
        let sent = self.write(bytes);
        match self.answer() {
            Err(error) if sent.is_err() => Err(sent.err().unwrap_or(error)),
            answer => answer,
        }
    }

    /// Sends bytes and waits for nothing.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Waits for an answer.
    pub fn answer(&mut self) -> io::Result<Message> {
        wire::read(&mut self.reader)?.ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }

    /// Says that nothing more will be sent.
    pub fn end(&self) -> io::Result<()> {
        self.reader.get_ref().shutdown(Shutdown::Write)
    }
}

/// A request with a true Content-Length.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = head(method, path, headers);
    bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    bytes
}

/// The beginning of a request, without the blank line that ends it.
pub fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    text.into_bytes()
}
