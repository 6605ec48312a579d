//! The buffer that all connections of a thread read by way of: of their own they keep only what has come.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// What is read at once: an event of the fast path with its head.
pub(super) const READ_BYTES: usize = 80 * 1024;

/// Reads what has come, up to so many bytes, and hands it over; no bytes at the end of the stream.
pub(super) fn poll_read<S: AsyncRead + Unpin, T>(
    stream: &mut S,
    bytes_max: usize,
    context: &mut Context<'_>,
    take: impl FnOnce(&mut [u8]) -> T,
) -> Poll<io::Result<T>> {
    thread_local! {
        static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(READ_BYTES, 0);
        let mut buffer = ReadBuf::new(&mut buffer[..bytes_max.min(READ_BYTES)]);
        ready!(Pin::new(stream).poll_read(context, &mut buffer))?;
        Poll::Ready(Ok(take(buffer.filled_mut())))
    })
}
