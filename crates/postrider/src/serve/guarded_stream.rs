//! A client's connection, watched: what it sends must have one meaning, and what it is sent it must read.

use super::client::ClientConnection;
use super::door::Left;
use super::inbound::Inbound;
use super::lingering::Lingering;
use super::read_buffer;
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

/// What the server sees at once. It begins with a buffer of 8 KiB, which it doubles each time that one is filled, up to
/// that of the longest head, and keeps for as long as the connection lives: of a thousand connections that is 64 MiB.
pub(super) const SEEN_BYTES_MAX: usize = 8 * 1024 - 1;

pub(super) struct GuardedStream<S> {
    stream: S,
    /// What was read of it before and is still to be read here.
    unread: Bytes,
    client: Arc<ClientConnection>,
    inbound: Inbound,
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
            inbound: Inbound::default(),
            is_half_closed: false,
            stalled: None,
            lingering: None,
        }
    }

    /// Whether its client has sent all of a request, and with it all that it will send. The server would take that for
    /// a client that has left, so it does not see the end before its answer is written.
    fn is_half_closed_for_an_answer(&mut self) -> bool {
        let waits = self.client.has_answer_with_an_end() && self.inbound.is_between_requests();
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
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let GuardedStream { stream, unread, client, inbound, .. } = &mut *self;
        let before = into.filled().len();
        while !inbound.give(into) && !inbound.is_spoilt() {
            let bytes_max = into.remaining().min(SEEN_BYTES_MAX);
            if unread.is_empty() {
                let take = |fresh: &mut [u8]| inbound.take(fresh, into).map(|()| fresh.len());
                let read = read_buffer::poll_read(stream, bytes_max, cx, take);
                if read.is_pending() && !inbound.is_between_requests() {
                    client.wait();
                }
                if ready!(read)?? == 0 {
                    return if self.is_half_closed_for_an_answer() {
                        Poll::Pending
                    } else {
                        Poll::Ready(Ok(()))
                    };
                }
            } else {
                let mut fresh = unread.split_to(unread.len().min(bytes_max)).to_vec();
                inbound.take(&mut fresh, into)?;
            }
            if into.filled().len() > before {
                break;
            }
        }
        if client.has_answer() && inbound.is_between_requests() {
            client.begin_answer();
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
        let GuardedStream { stream, unread, inbound, lingering, .. } = &mut *self;
        if lingering.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        if inbound.is_between_requests() {
            return Poll::Ready(Ok(()));
        }
        *unread = Bytes::new();
        inbound.forget();
        lingering.get_or_insert_with(Lingering::new).poll(stream, cx).map(Ok)
    }
}
