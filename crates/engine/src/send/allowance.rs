//! What a receiver may send over one connection: so much for each exchange, and little between two of them.
//!
//! Reading costs, also what nobody wants: frames of HTTP/2 that say nothing, records of TLS without data. A connection of
//! HTTP/2 has a task that reads whatever comes, also while it is idle, so that one delivery could cost a core for as long as
//! its receiver likes. Who sends more than this is cut off.

use rustix::net::sockopt::set_socket_linger;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes from the network that belong to one exchange, a handshake among them: twice what is read of an answer.
const EXCHANGE_BYTES: u64 = 2 * 1024 * 1024;
/// What frames of one exchange may cost. An answer whose body comes in pieces of 16 bytes takes as many for the part that is
/// kept.
const EXCHANGE_FRAMES: u64 = 4096;
/// The same between exchanges: pings, settings, and late acknowledgements.
const IDLE_BYTES: u64 = 64 * 1024;
const IDLE_FRAMES: u64 = 256;
/// A receiver may acknowledge what it is sent by a frame for each so many bytes.
const SENT_BYTES_A_FRAME: usize = 512;
/// And such a frame takes so many bytes, in a record of TLS of its own.
const FRAME_BYTES: usize = 64;

/// What is left of it on one connection.
#[derive(Debug)]
pub(super) struct Allowance(Mutex<Left>);

#[derive(Debug)]
struct Left {
    bytes: u64,
    frames: u64,
    exchanges: u64,
    is_exceeded: bool,
    is_abandoned: bool,
}

/// An exchange that is under way. Dropped before it is settled, it leaves something that its receiver has not taken.
pub(super) struct Exchanging {
    allowance: Arc<Allowance>,
    is_settled: bool,
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the receiver sends far more than a response needs")]
struct Exceeded;

impl Allowance {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Allowance(Mutex::new(Left {
            bytes: EXCHANGE_BYTES,
            frames: EXCHANGE_FRAMES,
            exchanges: 0,
            is_exceeded: false,
            is_abandoned: false,
        })))
    }

    /// One more exchange until what is given back is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Exchanging {
        let mut left = self.left();
        left.exchanges += 1;
        left.bytes += EXCHANGE_BYTES;
        left.frames += EXCHANGE_FRAMES;
        left.clamp();
        Exchanging { allowance: Arc::clone(self), is_settled: false }
    }

    /// Whether the connection was cut off.
    pub(super) fn is_exceeded(&self) -> bool {
        self.left().is_exceeded
    }

    /// Whether an exchange ended that was not settled: what of it is still to be sent is wanted by nobody.
    fn is_abandoned(&self) -> bool {
        self.left().is_abandoned
    }

    fn receive_bytes(&self, bytes: usize) -> io::Result<()> {
        let mut left = self.left();
        match left.bytes.checked_sub(bytes as u64) {
            Some(bytes) => left.bytes = bytes,
            None => left.is_exceeded = true,
        }
        left.check()
    }

    pub(super) fn receive_frames(&self, cost: u64) -> io::Result<()> {
        let mut left = self.left();
        match left.frames.checked_sub(cost) {
            Some(frames) => left.frames = frames,
            None => left.is_exceeded = true,
        }
        left.check()
    }

    fn send(&self, bytes: usize) {
        let mut left = self.left();
        left.bytes += (bytes / SENT_BYTES_A_FRAME * FRAME_BYTES) as u64;
        left.frames += (bytes / SENT_BYTES_A_FRAME) as u64;
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Left {
    /// What an exchange did not use is nobody else's.
    fn clamp(&mut self) {
        let (bytes, frames) = match self.exchanges {
            0 => (IDLE_BYTES, IDLE_FRAMES),
            exchanges => (exchanges * EXCHANGE_BYTES, exchanges * EXCHANGE_FRAMES),
        };
        self.bytes = self.bytes.min(bytes);
        self.frames = self.frames.min(frames);
    }

    fn check(&self) -> io::Result<()> {
        if self.is_exceeded { Err(io::Error::other(Exceeded)) } else { Ok(()) }
    }
}

impl Exchanging {
    /// The answer is whole, and nothing of the request is left here.
    pub(super) fn settle(mut self) {
        self.is_settled = true;
    }
}

impl Drop for Exchanging {
    fn drop(&mut self) {
        let mut left = self.allowance.left();
        left.is_abandoned |= !self.is_settled;
        left.exchanges -= 1;
        left.clamp();
    }
}

/// A stream of which every byte counts. After an exchange that was not settled it is closed by a reset: the kernel would go on
/// sending for an attempt that is over, and what it keeps for that counts for nobody.
pub(super) struct Metered<S: AsFd> {
    stream: S,
    allowance: Arc<Allowance>,
}

impl<S: AsFd> Drop for Metered<S> {
    fn drop(&mut self) {
        if self.allowance.is_abandoned() {
            let _ = set_socket_linger(&self.stream, Some(Duration::ZERO));
        }
    }
}

impl<S: AsFd> Metered<S> {
    pub(super) fn new(stream: S, allowance: &Arc<Allowance>) -> Self {
        Metered { stream, allowance: Arc::clone(allowance) }
    }
}

impl<S: AsFd> AsFd for Metered<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl<S: AsFd + AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        Poll::Ready(self.allowance.receive_bytes(buffer.filled().len() - before))
    }
}

impl<S: AsFd + AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.allowance.send(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.allowance.send(written);
        Poll::Ready(Ok(written))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exchange_has_its_own_and_between_them_there_is_little() {
        let allowance = Allowance::new();
        let (first, second) = (allowance.begin(), allowance.begin());
        allowance.receive_frames(EXCHANGE_FRAMES + 1).unwrap();
        drop(first);
        allowance.receive_frames(EXCHANGE_FRAMES - 1).unwrap();
        drop(second);
        assert!(allowance.receive_frames(1).is_err(), "both have used all that was theirs");
        let allowance = Allowance::new();
        drop(allowance.begin());
        allowance.receive_frames(IDLE_FRAMES).unwrap();
        let next = allowance.begin();
        allowance.receive_frames(EXCHANGE_FRAMES).unwrap();
        allowance.receive_bytes(EXCHANGE_BYTES as usize).unwrap();
        drop(next);
        assert!(!allowance.is_exceeded());
        assert!(allowance.receive_bytes(1).is_err() && allowance.is_exceeded());
    }

    #[test]
    fn a_large_request_may_be_acknowledged_piece_by_piece() {
        let allowance = Allowance::new();
        let _exchange = allowance.begin();
        for _ in 0..1000 {
            allowance.send(16 * 1024);
            // One for the stream and one for the connection.
            allowance.receive_frames(2).unwrap();
            allowance.receive_bytes(2 * FRAME_BYTES).unwrap();
        }
        assert!(!allowance.is_exceeded());
    }
}
