//! A reader of server-sent events, on a connection of its own.

use super::api::Api;
use super::client::request;
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than anything here takes, and than the gateway is silent.
const DEADLINE: Duration = Duration::from_secs(40);

/// A stream that is begun does not end: whoever calls everything calls this one so that it is refused.
pub(crate) fn that_ends(path: &str) -> String {
    path.replace("/v1/stream", "/v1/stream?kind=none")
}

pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
}

/// One event of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) event: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Api {
    /// A stream that was begun, with its first frame.
    pub(crate) fn stream(&self, query: &str, last_event_id: Option<&str>) -> (Stream, Frame) {
        let bearer = format!("Bearer {}", self.key);
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last_event_id.map(|id| ("last-event-id", id)));
        let mut stream = Stream::begin(self.address, &format!("/v1/stream{query}"), &headers);
        let open = stream.next();
        assert_eq!(open.event, "open");
        (stream, open)
    }
}

impl Stream {
    /// A stream that the gateway has begun.
    pub(crate) fn begin(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = TcpStream::connect(address).expect("the gateway listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline is legal");
        stream.write_all(&request("GET", path, headers, b"")).expect("it reads");
        let mut stream = Stream { reader: BufReader::new(stream) };
        let first = stream.line();
        assert!(first.starts_with("HTTP/1.1 200 "), "{first}");
        while stream.line() != "\r\n" {}
        stream
    }

    /// The next frame, which must come.
    pub(crate) fn next(&mut self) -> Frame {
        self.next_if_any().expect("the stream has ended")
    }

    /// The next frame; `None` when the gateway closed the stream. Comments are left out.
    pub(crate) fn next_if_any(&mut self) -> Option<Frame> {
        let mut frame = Frame { event: String::new(), id: None, data: Value::Null };
        loop {
            let line = self.line();
            if line.is_empty() {
                return None;
            }
            // The sizes of chunks stand between the lines.
            match line.trim_end().split_once(": ") {
                Some(("event", event)) => frame.event = event.to_owned(),
                Some(("id", id)) => frame.id = Some(id.to_owned()),
                Some(("data", data)) => frame.data = serde_json::from_str(data).expect("data is JSON"),
                _ if line == "\n" && !frame.event.is_empty() => return Some(frame),
                _ => {}
            }
        }
    }

    /// The next of this kind; others are passed over.
    pub(crate) fn next_of(&mut self, event: &str) -> Frame {
        loop {
            let frame = self.next();
            if frame.event == event {
                return frame;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(_) => line,
            // The other side was killed.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("nothing came in time: {error}"),
        }
    }
}
