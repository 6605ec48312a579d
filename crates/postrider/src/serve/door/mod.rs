//! The door for events: a connection whose requests post events, read and answered by hand.
//!
//! hyper's server costs as much for a request as all else that is done on a worker to take an event in. Nearly all
//! requests are of one shape, and need no more of HTTP than this. With the first that has another, the connection is
//! left to that server, for good and with every byte that was not taken.

mod answer;
mod head;
#[cfg(test)]
mod tests;

use super::connections::HEADER_DEADLINE;
use super::guarded_stream::WRITE_DEADLINE;
use crate::api::{self, ApiError, App, Arriving, BODY_DEADLINE};
use answer::Then;
use axum::response::IntoResponse;
use bytes::{Buf, Bytes, BytesMut};
use head::{Head, Look, look};
use http::HeaderMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// What is read at once, and what a connection keeps room for between requests.
const READ_BYTES: usize = 8 * 1024;

/// What the server behind the door goes on with.
pub(super) struct Left<S> {
    pub(super) stream: S,
    pub(super) unread: Bytes,
}

/// Takes events in until the connection ends, or a request comes that is not for the door.
pub(super) async fn serve<S>(stream: S, app: &App, stop: &watch::Receiver<bool>) -> Option<Left<S>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    // One for all requests: whoever is idle most of the time need not put itself down for it each time.
    let mut stopping = stop.clone();
    let mut stopping = pin!(stopping.wait_for(|stop| *stop));
    let deadline = Box::pin(sleep(HEADER_DEADLINE));
    let mut connection = Connection { stream, read: BytesMut::new(), unread_body: 0, deadline };
    loop {
        connection.deadline.as_mut().reset(Instant::now() + HEADER_DEADLINE);
        let head = loop {
            match look(&connection.read) {
                Look::Event(head) => break head,
                Look::Other => {
                    return Some(Left { stream: connection.stream, unread: connection.read.freeze() });
                }
                Look::Unfinished if connection.read.is_empty() => tokio::select! {
                    biased;
                    filled = connection.fill() => filled.ok()?,
                    _ = stopping.as_mut() => return None,
                },
                Look::Unfinished => connection.fill().await.ok()?,
            }
        };
        let (answer, then) = connection.answer(app, head, stop).await;
        connection.write(&answer).await?;
        if then == Then::Close {
            let _ = connection.stream.shutdown().await;
            return None;
        }
    }
}

struct Connection<S> {
    stream: S,
    /// What was read and is not yet taken.
    read: BytesMut,
    /// Of the body of the present request.
    unread_body: usize,
    /// When the rest of what is being read must have come. One timer for all of them: setting it to a later time costs
    /// next to nothing.
    deadline: Pin<Box<Sleep>>,
}

/// Why no more is read.
enum Ended {
    ByClient,
    ByDeadline,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection<S> {
    async fn answer(&mut self, app: &App, head: Head, stop: &watch::Receiver<bool>) -> (Vec<u8>, Then) {
        self.read.advance(head.bytes);
        self.unread_body = head.body_bytes;
        let entrance = api::entrance_by_token(app, head.token());
        let taken = api::take_event(app, entrance, head.request.map(|()| Body(self))).await;
        // It changes once, and to see that takes no lock.
        let stopping = stop.has_changed().unwrap_or(true);
        let then = if stopping || !self.skip_body() { Then::Close } else { Then::Next };
        match taken {
            Ok(told) => (answer::json(told.status, &told.json, then), then),
            Err(refused) => (answer::other(refused.into_response(), then).await, then),
        }
    }

    /// Nearly always there is room for all of it at once, and no clock is looked at.
    async fn write(&mut self, answer: &[u8]) -> Option<()> {
        let mut writing = pin!(self.stream.write_all(answer));
        match poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await {
            Poll::Ready(written) => written.ok(),
            Poll::Pending => timeout(WRITE_DEADLINE, writing).await.ok()?.ok(),
        }
    }

    /// Whether what follows in the buffer is the next request. A body that was refused and is still on its way is not
    /// waited for.
    fn skip_body(&mut self) -> bool {
        let here = self.unread_body.min(self.read.len());
        self.read.advance(here);
        self.unread_body -= here;
        self.unread_body == 0
    }

    /// The room of what was taken is used again, unless a large body had made it large.
    fn make_room(&mut self) {
        self.read.reserve(READ_BYTES);
        if self.read.is_empty() && self.read.capacity() > 2 * READ_BYTES {
            self.read = BytesMut::with_capacity(READ_BYTES);
        }
    }

    async fn fill(&mut self) -> Result<(), Ended> {
        self.make_room();
        tokio::select! {
            biased;
            read = self.stream.read_buf(&mut self.read) => match read {
                Ok(1..) => Ok(()),
                Ok(0) | Err(_) => Err(Ended::ByClient),
            },
            () = self.deadline.as_mut() => Err(Ended::ByDeadline),
        }
    }
}

/// The body of an event on its way in.
struct Body<'a, S>(&'a mut Connection<S>);

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Arriving for Body<'_, S> {
    async fn whole(self, _: &HeaderMap, bytes_max: usize) -> Result<Bytes, ApiError> {
        let Body(connection) = self;
        let bytes = connection.unread_body;
        if bytes > bytes_max {
            return Err(ApiError::too_large(bytes_max));
        }
        if connection.read.len() < bytes {
            connection.deadline.as_mut().reset(Instant::now() + BODY_DEADLINE);
        }
        while connection.read.len() < bytes {
            connection.fill().await.map_err(|ended| match ended {
                Ended::ByDeadline => ApiError::too_slow(),
                Ended::ByClient => ApiError::broken_body(),
            })?;
        }
        connection.unread_body = 0;
        let body = Bytes::copy_from_slice(&connection.read[..bytes]);
        connection.read.advance(bytes);
        Ok(body)
    }
}
