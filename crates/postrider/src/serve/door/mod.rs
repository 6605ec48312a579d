//! The door for events: a connection whose requests post events, read and answered by hand.
//!
//! hyper's server costs as much for a request as all else that is done on a worker to take an event in. Nearly all
//! requests are of one shape, and need no more of HTTP than this. With the first that has another, the connection is
//! left to that server, for good and with every byte that was not taken.

mod answer;
mod head;
#[cfg(test)]
mod tests;

use super::client::ClientConnection;
use super::connections::HEADER_DEADLINE;
use super::guarded_stream::WRITE_DEADLINE;
use super::lingering;
use super::read_buffer::{self, READ_BYTES};
use crate::api::{self, Admitted, ApiError, App, BODY_DEADLINE, Held, Offer};
use crate::memory_budget::OverBudget;
use answer::Then;
use axum::response::IntoResponse;
use bytes::{Buf, Bytes, BytesMut};
use head::{Look, look};
use postrider_core::limits;
use postrider_engine::IngestError;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep, timeout};

// Any event that has come is read at once, so that one that is refused is passed over and its connection stays.
const _: () = assert!(head::BYTES_MAX + head::BODY_BYTES_MAX <= READ_BYTES);

// No body that is taken here is too large for an event.
const _: () = assert!(head::BODY_BYTES_MAX <= limits::BODY_BYTES_MAX);

/// What the server behind the door goes on with.
pub(super) struct Left<S> {
    pub(super) stream: S,
    pub(super) unread: Bytes,
}

/// Takes events in until the connection ends, or a request comes that is not for the door.
///
/// What is kept over an `.await` is little on purpose: a connection has the room for it for as long as it lives, and
/// there are thousands, most of them idle.
pub(super) async fn serve<S>(
    stream: S,
    client: &ClientConnection,
    app: &App,
    stop: &watch::Receiver<bool>,
) -> Option<Left<S>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    // One for all requests: whoever is idle most of the time need not put itself down for it each time.
    let mut stopping = stop.clone();
    let mut stopping = pin!(stopping.wait_for(|stop| *stop));
    let mut connection = Connection::new(stream, client);
    loop {
        connection.deadline.as_mut().reset(Instant::now() + HEADER_DEADLINE);
        let (offered, then) = loop {
            let filled = match connection.next(app) {
                Next::Known(offered, then) => break (offered, then),
                Next::Other => {
                    return Some(Left { stream: connection.stream, unread: connection.read.freeze() });
                }
                Next::Unfinished => {
                    client.wait();
                    if let Err(refused) = connection.hold(app) {
                        break (Err(refused), Then::Close);
                    }
                    tokio::select! {
                        biased;
                        filled = connection.fill() => filled,
                        _ = stopping.as_mut(), if connection.read.is_empty() => return None,
                    }
                }
            };
            if let Err(ended) = filled {
                break (Err(connection.refuse(app, &ended)?), Then::Close);
            }
        };
        if !client.begin_answer() {
            return None;
        }
        let told = match offered {
            Ok(offer) => offer.told(app).await,
            Err(refused) => Err(refused),
        };
        connection.held = None;
        // It changes once, and to see that takes no lock.
        let then = if stop.has_changed().unwrap_or(true) { Then::Close } else { then };
        let answer = match told {
            Ok(told) => answer::json(told.status, &told.json, then),
            Err(refused) => answer::other(refused.into_response(), then).await,
        };
        connection.write(&answer).await?;
        if then == Then::Close {
            client.wait();
            connection.read = BytesMut::new();
            lingering::close(&mut connection.stream).await;
            return None;
        }
    }
}

struct Connection<'a, S> {
    stream: S,
    client: &'a ClientConnection,
    /// What was read and is not yet taken: between requests nothing, and then it takes no memory.
    read: BytesMut,
    /// The room that this takes while its client sends the rest, and the event behind it while it is written.
    held: Option<Held>,
    /// The request whose body is still on its way.
    begun: Option<Begun>,
    /// When the rest of what is being read must have come. One timer for all of them: setting it to a later time costs
    /// next to nothing.
    deadline: Pin<Box<Sleep>>,
}

/// A request that was let in. Its head is read once more when all is there: most come whole, and then nothing of them
/// is kept.
struct Begun {
    admitted: Admitted,
    /// Of head and body.
    bytes: usize,
}

/// What is known of the next request.
enum Next {
    Unfinished,
    /// It is not for the door.
    Other,
    Known(Result<Offer, ApiError>, Then),
}

/// Why no more is read.
enum Ended {
    ByClient,
    ByDeadline,
}

impl<'a, S: AsyncRead + AsyncWrite + Send + Unpin> Connection<'a, S> {
    fn new(stream: S, client: &'a ClientConnection) -> Self {
        let deadline = Box::pin(sleep(HEADER_DEADLINE));
        Connection { stream, client, read: BytesMut::new(), held: None, begun: None, deadline }
    }

    /// Looks at what is there, and offers the event once all of it is.
    fn next(&mut self, app: &App) -> Next {
        if self.begun.as_ref().is_some_and(|begun| self.read.len() < begun.bytes) {
            return Next::Unfinished;
        }
        let head = match look(&self.read) {
            Look::Event(head) => head,
            Look::Unfinished => return Next::Unfinished,
            Look::Other => return Next::Other,
        };
        let bytes = head.bytes + head.body_bytes;
        let admitted = match self.begun.take() {
            Some(begun) => Ok(begun.admitted),
            None => Admitted::new(app, api::entrance_by_token(app, head.token()), &head.parts.headers),
        };
        let offered = match admitted {
            Ok(admitted) if self.read.len() < bytes => {
                self.deadline.as_mut().reset(Instant::now() + BODY_DEADLINE);
                self.held = Some(admitted.room());
                // No more than is to come, and all at once.
                let mut read = BytesMut::with_capacity(bytes);
                read.extend_from_slice(&self.read);
                self.read = read;
                self.begun = Some(Begun { admitted, bytes });
                return Next::Unfinished;
            }
            Ok(admitted) => {
                let mut room = admitted.room();
                // What it took on its way is freed below.
                self.held = None;
                match room.grow_to(head.body_bytes) {
                    Ok(()) => {
                        self.held = Some(room);
                        let body = Bytes::copy_from_slice(&self.read[head.bytes..bytes]);
                        admitted.offer(app, &head.parts, body)
                    }
                    Err(OverBudget) => Err(admitted.crowded(app)),
                }
            }
            Err(refused) => Err(refused),
        };
        Next::Known(offered, self.pass(bytes))
    }

    /// Counts what has come of a request whose end has not.
    fn hold(&mut self, app: &App) -> Result<(), ApiError> {
        if self.read.is_empty() {
            return Ok(());
        }
        let held = self.held.get_or_insert_with(|| Held::nothing(None));
        if held.grow_to(self.read.capacity()).is_ok() {
            return Ok(());
        }
        // Its sender may take a while to see the answer.
        self.read = BytesMut::new();
        Err(match self.begun.take() {
            Some(begun) => begun.admitted.crowded(app),
            None => IngestError::Crowded.into(),
        })
    }

    /// What a sender is told whose body did not come; nothing, if it had not even begun one.
    fn refuse(&mut self, app: &App, ended: &Ended) -> Option<ApiError> {
        let Begun { admitted, .. } = self.begun.take()?;
        let refused = match ended {
            Ended::ByDeadline => ApiError::too_slow(),
            Ended::ByClient => ApiError::broken_body(),
        };
        Some(admitted.refused(app, refused))
    }

    /// Goes on behind a request. A body that was refused and is still on its way is not waited for.
    fn pass(&mut self, bytes: usize) -> Then {
        if self.read.len() < bytes {
            return Then::Close;
        }
        self.read.advance(bytes);
        if self.read.is_empty() {
            self.read = BytesMut::new();
        }
        Then::Next
    }

    /// Nearly always there is room for all of it at once, and no clock is looked at.
    async fn write(&mut self, answer: &[u8]) -> Option<()> {
        let mut writing = pin!(self.stream.write_all(answer));
        match poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await {
            Poll::Ready(written) => written.ok(),
            Poll::Pending => {
                self.client.wait();
                timeout(WRITE_DEADLINE, writing).await.ok()?.ok()
            }
        }
    }

    async fn fill(&mut self) -> Result<(), Ended> {
        let Connection { stream, read, deadline, .. } = self;
        tokio::select! {
            biased;
            filled = poll_fn(|context| poll_fill(stream, read, context)) => match filled {
                Ok(1..) => Ok(()),
                Ok(0) | Err(_) => Err(Ended::ByClient),
            },
            () = deadline.as_mut() => Err(Ended::ByDeadline),
        }
    }
}

fn poll_fill<S: AsyncRead + Unpin>(
    stream: &mut S,
    read: &mut BytesMut,
    context: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    read_buffer::poll_read(stream, READ_BYTES, context, |bytes| {
        read.extend_from_slice(bytes);
        bytes.len()
    })
}
