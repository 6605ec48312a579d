//! The socket of a connection to a receiver: what it holds in the kernel is bounded, also once it is closed.
//!
//! The kernel keeps what a closed connection has not sent for minutes, in case that the receiver takes it after all. Of
//! receivers that never read this adds up without an attempt being in flight. An attempt that ends with something unsent
//! therefore ends its connection by a reset (`allowance.rs`). One whose answer came first may end before its receiver has
//! read the last of its request: there a closed connection gives up when its receiver has taken nothing for some seconds.

use postrider_core::limits::SEND_BUFFER_BYTES;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// A closed connection whose receiver takes nothing more is given up after this.
const UNTAKEN_MAX: Duration = Duration::from_secs(10);
/// Less than this fits into any receiver's own buffer.
const SMALL_BYTES_MAX: u64 = 4096;

pub(super) struct ReceiverSocket {
    stream: TcpStream,
    /// Bytes written since it was opened.
    written: u64,
}

impl ReceiverSocket {
    pub(super) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_send_buffer_size(SEND_BUFFER_BYTES as u32)?;
        let stream = socket.connect(address).await?;
        // Requests are written whole; waiting to fill a packet would only add latency.
        let _ = stream.set_nodelay(true);
        Ok(ReceiverSocket { stream, written: 0 })
    }

    fn note_written(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let bytes = ready!(written)?;
        self.written = self.written.saturating_add(bytes as u64);
        Poll::Ready(Ok(bytes))
    }
}

impl Drop for ReceiverSocket {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if self.written > SMALL_BYTES_MAX {
            let untaken_max_ms = UNTAKEN_MAX.as_millis() as u32;
            let _ = rustix::net::sockopt::set_tcp_user_timeout(&self.stream, untaken_max_ms);
        }
    }
}

impl AsFd for ReceiverSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl AsyncRead for ReceiverSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ReceiverSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note_written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.note_written(written)
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::net::sockopt::{socket_send_buffer_size, tcp_user_timeout};
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn what_the_kernel_holds_is_bounded_and_given_up_after_the_close() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for (bytes, given_up_after) in [(SMALL_BYTES_MAX, 0), (SMALL_BYTES_MAX + 1, UNTAKEN_MAX.as_millis())]
        {
            let mut socket = ReceiverSocket::connect(address).await.unwrap();
            assert!(socket_send_buffer_size(&socket.stream).unwrap() <= 2 * SEND_BUFFER_BYTES);
            socket.write_all(&vec![0; bytes as usize]).await.unwrap();
            let same = socket.stream.as_fd().try_clone_to_owned().unwrap();
            drop(socket);
            assert_eq!(u128::from(tcp_user_timeout(&same).unwrap()), given_up_after);
        }
    }
}
