//! A client's connection, watched: what it sends must have one meaning, and what it is sent it must read.

use super::client::ClientConnection;
use super::door::Left;
use super::framing::Framing;
use super::lingering::Lingering;
use bytes::Bytes;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A client that takes no byte of its answer for so long is gone.
pub(super) const WRITE_DEADLINE: Duration = Duration::from_secs(60);

/// No byte of a head or of a chunk's size may be this one, so the server refuses what holds it with a 400.
const SPOILT: u8 = 0;

pub(super) struct GuardedStream<S> {
    stream: S,
    /// What was read of it before and is still to be read here.
    unread: Bytes,
    client: Arc<ClientConnection>,
    framing: Framing,
    spoilt: bool,
    /// Its client sends nothing more and waits for an answer.
    is_half_closed: bool,
    /// Runs while the client does not read.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Once all is answered, while the client still sends.
    lingering: Option<Lingering>,
}

impl<S> GuardedStream<S> {
    pub(super) fn new(left: Left<S>, client: Arc<ClientConnection>) -> Self {
        let Left { stream, unread } = left;
        GuardedStream {
            stream,
            unread,
            client,
            framing: Framing::default(),
            spoilt: false,
            is_half_closed: false,
            stalled: None,
            lingering: None,
        }
    }

    /// Whether its client has sent all of a request, and with it all that it will send. The server would take that for
    /// a client that has left, so it does not see the end before its answer is written.
    fn is_half_closed_for_an_answer(&mut self) -> bool {
        let waits = self.client.has_answer_with_an_end() && self.framing.is_between_requests();
        self.is_half_closed |= waits;
        waits
    }

    fn unless_stalled<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.stalled.take().is_some() && self.client.has_answer() {
                self.client.begin_answer();
            }
            return written;
        }
        self.client.wait();
        let timer = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_DEADLINE)));
        timer.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GuardedStream<S> {
    /// At the first byte that has no single meaning it passes on a byte that has none at all, and then the end.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.spoilt {
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        if self.unread.is_empty() {
            let read = Pin::new(&mut self.stream).poll_read(cx, into)?;
            if read.is_pending() && !self.framing.is_between_requests() {
                self.client.wait();
            }
            ready!(read);
            if into.filled().len() == before && self.is_half_closed_for_an_answer() {
                return Poll::Pending;
            }
        } else {
            let bytes = self.unread.len().min(into.remaining());
            into.put_slice(&self.unread.split_to(bytes));
        }
        let fresh = &mut into.filled_mut()[before..];
        if let Err(at) = self.framing.take(fresh) {
            fresh[at] = SPOILT;
            into.set_filled(before + at + 1);
            self.spoilt = true;
        }
        if self.client.has_answer() && self.framing.is_between_requests() {
            self.client.begin_answer();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.unless_stalled(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.unless_stalled(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() && self.is_half_closed && !self.client.has_answer() {
            // The server is to look at its client once more, and see the end.
            cx.waker().wake_by_ref();
        }
        flushed
    }

    /// Whoever is in the middle of a request that is already answered may send the rest of it.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let GuardedStream { stream, framing, spoilt, lingering, .. } = &mut *self;
        if lingering.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        if framing.is_between_requests() && !*spoilt {
            return Poll::Ready(Ok(()));
        }
        lingering.get_or_insert_with(Lingering::new).poll(stream, cx).map(Ok)
    }
}
