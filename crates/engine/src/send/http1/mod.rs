//! An HTTP/1.1 connection that carries one exchange after the other, in the task of the attempt that makes it.
//!
//! hyper's client has a task for each connection and hands every request and answer over by channels: a seventh of
//! what an event costs. Here an attempt writes and reads by itself.

mod body;
mod head;

pub(crate) use head::Head;

use super::allowance::{Allowance, Exchanging, Metered};
use super::receiver_socket::ReceiverSocket;
use super::request::Request;
use body::{Body, Next};
use bytes::{Buf, Bytes, BytesMut};
use head::{Answer, Begun};
use postrider_core::limits::RESPONSE_BYTES_MAX;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio_rustls::client::TlsStream;

/// What is read at once.
const READ_BYTES: usize = 4096;
/// Far more than the largest head and the part of a body that is kept. Announcements and chunks may be repeated for
/// ever, and reading them would keep the thread from everyone else.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Why an answer is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadAnswer {
    #[error("its head cannot be read ({0})")]
    Head(httparse::Error),
    #[error("its head has no end")]
    LongHead,
    #[error("its content-length is none, or there are several")]
    Length,
    #[error("its chunks cannot be read")]
    Chunk,
}

/// Why there is no whole answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error(transparent)]
    Bad(#[from] BadAnswer),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the receiver closed it")]
    Closed,
}

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {
    fn socket(&self) -> BorrowedFd<'_>;
}

impl Stream for Metered<ReceiverSocket> {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

impl Stream for TlsStream<Metered<ReceiverSocket>> {
    fn socket(&self) -> BorrowedFd<'_> {
        self.get_ref().0.as_fd()
    }
}

/// Dropping it closes it at once, whatever it is busy with.
pub(crate) struct Http1 {
    stream: Box<dyn Stream>,
    /// What was read and is not yet taken.
    read: BytesMut,
    /// Since the request.
    read_bytes: usize,
    /// Something of the request has left.
    has_written: bool,
    allowance: Arc<Allowance>,
}

/// The rest of an exchange whose answer has begun: of the answer, and of a request that it came before the end of.
pub(crate) struct Rest {
    body: Body,
    left: Outgoing,
    stays_open: bool,
}

impl Rest {
    /// Whether the connection can carry another exchange, once this one is over.
    pub(super) const fn stays_open(&self) -> bool {
        self.stays_open
    }

    /// Whether nothing is left of the request.
    pub(super) const fn is_sent(&self) -> bool {
        self.left.is_sent
    }
}

impl Http1 {
    pub(super) fn new(stream: impl Stream + 'static, allowance: Arc<Allowance>) -> Self {
        Http1 {
            stream: Box::new(stream),
            read: BytesMut::new(),
            read_bytes: 0,
            has_written: false,
            allowance,
        }
    }

    /// What the receiver may send counts for an exchange until what is given back is dropped.
    pub(super) fn begin(&self) -> Exchanging {
        self.allowance.begin()
    }

    /// Whether an idle one can carry a request. Whatever comes unasked is no answer to it.
    pub(super) fn is_open(&mut self) -> bool {
        let unasked = self.poll_read(&mut Context::from_waker(Waker::noop()));
        unasked.is_pending() && self.read.is_empty() && !self.has_unread()
    }

    /// Whether anything has come, or the end, that the runtime has not heard of yet: it would be read as the answer to the
    /// request that is written next.
    fn has_unread(&self) -> bool {
        let peeked = recv(self.stream.socket(), &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        peeked.err() != Some(Errno::AGAIN)
    }

    /// Whether anything came back since the last request.
    pub(super) fn is_answering(&self) -> bool {
        self.read_bytes > 0
    }

    /// Whether the receiver may have heard of the last request.
    pub(super) fn has_written(&self) -> bool {
        self.has_written
    }

    /// Sends a request and reads the head of its answer.
    pub(super) async fn send(&mut self, request: Request) -> Result<(Head, Rest), Broken> {
        let mut left = Outgoing::new(request);
        (self.read_bytes, self.has_written) = (0, false);
        loop {
            let fresh = poll_fn(|cx| self.poll_exchange(cx, &mut left)).await?;
            if fresh == 0 {
                return Err(Broken::Closed);
            }
            let Some(Answer { head, body, stays_open }) = self.take_head(fresh)? else { continue };
            let stays_open = stays_open && left.is_sent;
            return Ok((head, Rest { body, left, stays_open }));
        }
    }

    /// Reads the rest of an answer, and keeps at most [`RESPONSE_BYTES_MAX`] of it. When there was more the connection
    /// cannot carry another exchange, since nobody wants to read that.
    pub(super) async fn receive(&mut self, rest: &mut Rest, kept: &mut BytesMut) -> Result<(), Broken> {
        loop {
            match rest.body.next(&mut self.read)? {
                Next::Data(bytes) => {
                    let room = RESPONSE_BYTES_MAX - kept.len();
                    kept.extend_from_slice(&self.read[..bytes.min(room)]);
                    self.read.advance(bytes);
                    if bytes > room {
                        rest.stays_open = false;
                        return Ok(());
                    }
                }
                Next::More => {
                    if poll_fn(|cx| self.poll_more(cx, &mut rest.left)).await? == 0 {
                        rest.stays_open = false;
                        return if matches!(rest.body, Body::Close) { Ok(()) } else { Err(Broken::Closed) };
                    }
                }
                Next::End => {
                    rest.stays_open &= self.read.is_empty();
                    return Ok(());
                }
            }
        }
    }

    /// Sends what is left of a request whose answer is whole: a receiver that accepts it first and reads it then is to
    /// have all of it.
    pub(super) async fn finish(&mut self, rest: &mut Rest) -> Result<(), io::Error> {
        poll_fn(|cx| self.poll_finish(cx, &mut rest.left)).await
    }

    /// The head of the answer, once it is there. The last `fresh` bytes are new.
    fn take_head(&mut self, fresh: usize) -> Result<Option<Answer>, BadAnswer> {
        let known = self.read.len() - fresh;
        // One that comes byte by byte is not read anew with each of them.
        if known > 0 && !self.read[known..].contains(&b'\n') && self.read.len() < head::BYTES_MAX {
            return Ok(None);
        }
        loop {
            match head::parse(&self.read)? {
                Begun::Part => return Ok(None),
                Begun::Announcement(bytes) => self.read.advance(bytes),
                Begun::Answer(answer, bytes) => {
                    self.read.advance(bytes);
                    return Ok(Some(answer));
                }
            }
        }
    }

    /// Writes what is left of the request, and reads what is there of the answer: it may come before a receiver has
    /// taken, or has stopped taking, the whole of a body.
    fn poll_exchange(&mut self, cx: &mut Context<'_>, left: &mut Outgoing) -> Poll<io::Result<usize>> {
        let written = self.poll_write(cx, left);
        match (self.poll_read(cx), written) {
            (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Err(error)),
            (read, _) => read,
        }
    }

    /// Reads on, and writes meanwhile: a receiver may end its answer only when it has the whole request. One that
    /// takes no more of it can still say why.
    fn poll_more(&mut self, cx: &mut Context<'_>, left: &mut Outgoing) -> Poll<io::Result<usize>> {
        let _ = self.poll_write(cx, left);
        self.poll_read(cx)
    }

    /// What else the receiver says is passed over, but read: it may take nothing before it has said it.
    fn poll_finish(&mut self, cx: &mut Context<'_>, left: &mut Outgoing) -> Poll<io::Result<()>> {
        while !left.is_sent
            && let Poll::Ready(Ok(1..)) = self.poll_read(cx)
        {
            self.read.clear();
        }
        self.poll_write(cx, left)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, left: &mut Outgoing) -> Poll<io::Result<()>> {
        if left.is_sent {
            return Poll::Ready(Ok(()));
        }
        while !left.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, left.next()))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.has_written = true;
            left.advance(written);
        }
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        left.is_sent = true;
        Poll::Ready(Ok(()))
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.read.reserve(READ_BYTES);
        let fresh = ready!(pin!(self.stream.read_buf(&mut self.read)).poll(cx))?;
        self.read_bytes += fresh;
        if self.read_bytes > ANSWER_BYTES_MAX {
            return Poll::Ready(Err(io::Error::other("the response has no end")));
        }
        Poll::Ready(Ok(fresh))
    }
}

/// What of a request is not written yet.
struct Outgoing {
    head: BytesMut,
    body: Bytes,
    /// Nothing of it is left here, nor in the stream.
    is_sent: bool,
}

impl Outgoing {
    fn new(request: Request) -> Self {
        let (head, body) = request.into_written();
        Outgoing { head, body, is_sent: false }
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.body.is_empty()
    }

    fn next(&self) -> &[u8] {
        if self.head.is_empty() { &self.body } else { &self.head }
    }

    fn advance(&mut self, bytes: usize) {
        if self.head.is_empty() { self.body.advance(bytes) } else { self.head.advance(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener};

    /// What a receiver does on an idle connection is seen at once, though the runtime has not looked at its sockets since.
    #[tokio::test]
    async fn a_connection_with_something_unread_is_not_open() {
        type Act = fn(&mut std::net::TcpStream);
        let acts: [(Act, bool); 3] = [
            (|_| {}, true),
            (|peer| peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap(), false),
            (|peer| peer.shutdown(Shutdown::Both).unwrap(), false),
        ];
        for (act, is_open) in acts {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut stream = ReceiverSocket::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            // Once read to its end, as after an answer.
            peer.write_all(b"x").unwrap();
            stream.read_exact(&mut [0]).await.unwrap();
            let allowance = Allowance::new();
            let mut idle = Http1::new(Metered::new(stream, &allowance), allowance);
            assert!(idle.is_open());
            act(&mut peer);
            assert_eq!(idle.is_open(), is_open);
            drop(idle);
            let _ = peer.read(&mut [0]);
        }
    }
}
