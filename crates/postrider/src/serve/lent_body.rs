//! The body of a request, lent to whoever answers it. What they leave unread comes back here.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A rest that is read so that its connection stays open; a larger one costs more than a connection.
const REST_BYTES_MAX: u64 = 64 * 1024;
/// The longest that an answer is late for it.
const REST_DEADLINE: Duration = Duration::from_secs(1);

/// A body on loan.
pub(super) struct LentBody<B: Body> {
    body: Option<B>,
    lender: Lender<B>,
}

/// Has the body again once it was dropped before its end.
pub(super) struct Lender<B> {
    returned: Arc<Mutex<Option<B>>>,
}

/// What is left of a body that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    /// The client may still be sending it, so its connection cannot take another request.
    Unread,
}

pub(super) fn lend<B: Body>(body: B) -> (LentBody<B>, Lender<B>) {
    let returned = Arc::new(Mutex::new(None));
    let lender = || Lender { returned: Arc::clone(&returned) };
    (LentBody { body: Some(body), lender: lender() }, lender())
}

impl<B: Body<Data = Bytes> + Unpin> Body for LentBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B: Body> Drop for LentBody<B> {
    fn drop(&mut self) {
        let body = self.body.take().filter(|body| !body.is_end_stream());
        *self.lender.returned.lock().unwrap_or_else(PoisonError::into_inner) = body;
    }
}

impl<B: Body<Data = Bytes> + Unpin> Lender<B> {
    /// Reads a small rest to its end, unless its sender waits to be asked for it.
    pub(super) async fn settle(self, is_awaited: bool) -> Rest {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(body) = returned else { return Rest::Nothing };
        let is_small = body.size_hint().upper().is_some_and(|bytes| bytes <= REST_BYTES_MAX);
        if is_awaited || !is_small {
            return Rest::Unread;
        }
        let read = async {
            let mut body = pin!(body);
            while let Some(frame) = body.frame().await {
                if frame.is_err() {
                    return Rest::Unread;
                }
            }
            Rest::Nothing
        };
        tokio::time::timeout(REST_DEADLINE, read).await.unwrap_or(Rest::Unread)
    }
}
