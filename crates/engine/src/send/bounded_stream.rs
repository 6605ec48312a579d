//! A stream that gives up when a receiver sends without end in answer to one request.
//!
//! Headers and kept body are bounded elsewhere, but announcements (`100 Continue` and the like) may be repeated for
//! ever, and reading them would keep the thread from everyone else.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Far more than the largest head that is read and the part of a body that is kept.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

pub(crate) struct BoundedStream<S> {
    stream: S,
    /// Since the last write, so since the request.
    read_bytes: usize,
}

impl<S> BoundedStream<S> {
    pub(crate) fn new(stream: S) -> Self {
        BoundedStream { stream, read_bytes: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BoundedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.read_bytes += buf.filled().len() - before;
        if self.read_bytes > ANSWER_BYTES_MAX {
            return Poll::Ready(Err(io::Error::other("the answer to one request has no end")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BoundedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.read_bytes = 0;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.read_bytes = 0;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
