//! Who answers a request: the door for events what it can, since nearly all requests are for it; the router all others.

use super::lent_body::{Rest, lend};
use crate::api::App;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request};
use hyper::body::{Body as _, Incoming};
use std::convert::Infallible;
use std::sync::Arc;
use tower::ServiceExt;

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

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response, Infallible> {
        let (head, body) = request.into_parts();
        if body.is_end_stream() {
            return self.router.clone().oneshot(Request::from_parts(head, Body::empty())).await;
        }
        let is_awaited = head.headers.contains_key(EXPECT);
        let (body, lender) = lend(body);
        let mut answer = self.router.clone().oneshot(Request::from_parts(head, Body::new(body))).await?;
        if lender.settle(is_awaited).await == Rest::Unread {
            // So that the client sends its next request elsewhere.
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(answer)
    }
}

impl From<Router> for Front {
    fn from(router: Router) -> Self {
        Front { router, door: None }
    }
}
