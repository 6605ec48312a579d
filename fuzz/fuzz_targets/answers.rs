//! An answer of a receiver is read the same however its bytes arrive, and never more of it is kept than is allowed. The
//! first byte says in which steps they come.

#![no_main]

#[allow(dead_code, reason = "a module of the engine, taken as it is")]
#[path = "../../crates/engine/src/send/http1/mod.rs"]
mod http1;
#[path = "../stand_in/request.rs"]
mod request;

use bytes::BytesMut;
use http1::Http1;
use libfuzzer_sys::fuzz_target;
use postrider_core::limits::RESPONSE_BYTES_MAX;
use request::Request;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A receiver that takes every request and answers with these bytes, so many at once, and the end.
struct Given {
    bytes: Vec<u8>,
    step: usize,
    read: usize,
}

impl AsyncRead for Given {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.bytes.len() - self.read;
        let count = left.min(self.step).min(into.remaining());
        into.put_slice(&self.bytes[self.read..self.read + count]);
        self.read += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Given {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What is seen of an answer.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    /// None when it has no end.
    body: Option<Vec<u8>>,
}

/// What is seen when the bytes come so many at once, and whether the connection may be used again.
fn answer(bytes: &[u8], step: usize) -> (Option<Seen>, bool) {
    let mut connection = Http1::new(Given { bytes: bytes.to_vec(), step, read: 0 });
    let exchange = async {
        let Ok((head, rest)) = connection.send(Request).await else { return (None, false) };
        let mut kept = BytesMut::new();
        let received = connection.receive(rest, &mut kept).await;
        assert!(kept.len() <= RESPONSE_BYTES_MAX);
        let body = received.is_ok().then(|| kept.to_vec());
        (Some(Seen { status: head.status, body }), received.unwrap_or(false))
    };
    match pin!(exchange).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(seen) => seen,
        Poll::Pending => panic!("it waits for a receiver that never lets it wait"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((step, bytes)) = bytes.split_first() else { return };
    let (whole, used_again) = answer(bytes, usize::MAX);
    let (stepped, _) = answer(bytes, usize::from(*step).max(1));
    assert_eq!(stepped, whole);
    let ends_whole = whole.is_some_and(|seen| seen.body.is_some());
    assert!(!used_again || ends_whole, "a connection whose answer has no end is used again");
});
