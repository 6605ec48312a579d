//! The end of a connection whose client still sends: we read on for a while and drop what comes.
//!
//! Closing a socket with unread bytes in it resets the connection, and the client loses the answer that says why its
//! request was refused. Many clients send all of a request before they look for the answer.

use super::read_buffer::{self, READ_BYTES};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, Sleep, sleep};

/// The longest that a client may still send.
pub(super) const LINGER: Duration = Duration::from_secs(30);
/// A client that sends nothing for so long has its answer.
pub(super) const LINGER_QUIET: Duration = Duration::from_secs(5);
/// The most that a client may still send: far more than any legal body, so that mistakes are answered too.
const LINGER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Reads on until the client closes, or one of the bounds is reached.
pub(super) struct Lingering {
    until: Instant,
    timer: Pin<Box<Sleep>>,
    bytes_left: usize,
}

impl Lingering {
    pub(super) fn new() -> Self {
        let timer = Box::pin(sleep(LINGER_QUIET));
        Lingering { until: Instant::now() + LINGER, timer, bytes_left: LINGER_BYTES_MAX }
    }

    pub(super) fn poll<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        while let Poll::Ready(read) = read_buffer::poll_read(stream, READ_BYTES, context, |bytes| bytes.len())
        {
            match read {
                Ok(bytes @ 1..) if bytes < self.bytes_left => self.bytes_left -= bytes,
                _ => return Poll::Ready(()),
            }
            self.timer.as_mut().reset(self.until.min(Instant::now() + LINGER_QUIET));
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(())
    }
}

/// Says that nothing more will be written, and lingers.
pub(super) async fn close<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) {
    if stream.shutdown().await.is_ok() {
        let mut lingering = Lingering::new();
        poll_fn(|context| lingering.poll(stream, context)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client that sends this many bytes a second, for ever, was read of, and for how long.
    async fn linger(bytes_a_second: usize) -> (usize, Duration) {
        let (mut client, mut server) = tokio::io::duplex(4096);
        let sending = tokio::spawn(async move {
            let (mut seconds, mut sent) = (tokio::time::interval(Duration::from_secs(1)), 0);
            loop {
                seconds.tick().await;
                if bytes_a_second == 0 {
                    continue;
                }
                match client.write_all(&vec![b'x'; bytes_a_second]).await {
                    Ok(()) => sent += bytes_a_second,
                    Err(_) => return sent,
                }
            }
        });
        let began = Instant::now();
        close(&mut server).await;
        let took = began.elapsed();
        drop(server);
        if bytes_a_second == 0 {
            sending.abort();
        }
        (sending.await.unwrap_or(0), took)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_goes_on_sending_is_read_on_within_bounds() {
        assert_eq!(linger(0).await, (0, LINGER_QUIET));
        let (sent, took) = linger(1000).await;
        assert_eq!(took, LINGER);
        assert!((29_000..=31_000).contains(&sent), "{sent}");
        let (sent, took) = linger(LINGER_BYTES_MAX / 4).await;
        assert!(took <= Duration::from_secs(4), "{took:?}");
        assert!((LINGER_BYTES_MAX / 2..=LINGER_BYTES_MAX).contains(&sent), "{sent}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_closes_is_not_waited_for() {
        let (mut client, mut server) = tokio::io::duplex(4096);
        client.write_all(b"the rest").await.unwrap();
        drop(client);
        let began = Instant::now();
        close(&mut server).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
