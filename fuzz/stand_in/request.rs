//! Stands in for the engine's request, of which a connection wants its bytes and nothing else.

use bytes::{Bytes, BytesMut};

pub(crate) struct Request;

impl Request {
    pub(crate) fn into_written(self) -> (BytesMut, Bytes) {
        (BytesMut::from("POST / HTTP/1.1\r\n\r\n"), Bytes::new())
    }
}
