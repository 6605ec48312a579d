//! Who answers a request: the door for events what it can, since nearly all requests are for it; the router all others.

use super::client::Answering;
use super::lent_body::{Rest, lend};
use crate::api::{self, App};
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::ServiceExt;

/// What those ask who look after the gateway.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/health"];

/// What a listener serves.
#[derive(Clone)]
pub(crate) struct Front {
    router: Router,
    /// Whose door for events is open here.
    door: Option<Arc<App>>,
}

impl Front {
    /// Requests that both could answer get the same answer from both; the door only takes less time to give it.
    pub(super) fn with_door(router: Router, app: Arc<App>) -> Self {
        Front { router, door: Some(app) }
    }

    pub(super) fn door(&self) -> Option<&App> {
        self.door.as_deref()
    }

    /// Answers a request, unless its connection is dropped. Its client waits until the last byte of the answer is made.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        answering: Option<Answering>,
    ) -> Result<Response, Infallible> {
        let Some(answering) = answering else {
            return Ok(closing(api::connections_full().into_response()));
        };
        let answer = match answering.is_of_reserve() {
            true if !self.is_for_reserve(&request) => closing(api::connections_full().into_response()),
            true => closing(self.route(request).await?),
            false => self.route(request).await?,
        };
        if answer.body().size_hint().exact().is_none() {
            answering.is_stream();
        }
        Ok(answer.map(|body| Body::new(AnsweringBody { body, _answering: answering })))
    }

    /// Whether a request is for what is kept for probes and keys while all else is busy.
    fn is_for_reserve(&self, request: &Request<Incoming>) -> bool {
        let shows_key = |app: &Arc<App>| api::shows_key(app, request.headers());
        PROBES.contains(&request.uri().path()) || self.door.as_ref().is_none_or(shows_key)
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Response, Infallible> {
        let (head, body) = request.into_parts();
        if body.is_end_stream() {
            return self.router.clone().oneshot(Request::from_parts(head, Body::empty())).await;
        }
        let is_awaited = head.headers.contains_key(EXPECT);
        let (body, lender) = lend(body);
        let answer = self.router.clone().oneshot(Request::from_parts(head, Body::new(body))).await?;
        let rest = lender.settle(is_awaited).await;
        Ok(if rest == Rest::Unread { closing(answer) } else { answer })
    }
}

/// So that the client sends its next request on another connection.
fn closing(mut answer: Response) -> Response {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The body of an answer, whose client waits until the end of it.
struct AnsweringBody {
    body: Body,
    _answering: Answering,
}

impl HttpBody for AnsweringBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl From<Router> for Front {
    fn from(router: Router) -> Self {
        Front { router, door: None }
    }
}
