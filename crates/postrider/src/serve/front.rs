//! Who answers a request: the door for events straight away, since nearly all requests are for it; the router all others.

use crate::api::{self, App};
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{Method, Request};
use hyper::body::Incoming;
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

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response, Infallible> {
        if let Some(app) = &self.door
            && request.method() == Method::POST
            && let Some(token) = plain_token(request.uri().path())
        {
            let source = api::source_by_token(app, token);
            return Ok(api::take_event(app, source, request).await.into_response());
        }
        // In a box, since it is large: the answer to an event would carry its room around.
        Box::pin(self.router.clone().oneshot(request.map(Body::new))).await
    }
}

impl From<Router> for Front {
    fn from(router: Router) -> Self {
        Front { router, door: None }
    }
}

/// The token of an ingest path in which nothing is to be decoded.
fn plain_token(path: &str) -> Option<&str> {
    let token = path.strip_prefix("/ingest/")?;
    let is_plain = !token.is_empty() && token.bytes().all(|byte| byte != b'/' && byte != b'%');
    is_plain.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_token_is_taken_by_the_door() {
        for (path, token) in [
            ("/ingest/abc", Some("abc")),
            ("/ingest/", None),
            ("/ingest", None),
            ("/ingest/a/b", None),
            ("/ingest/a/", None),
            ("/ingest/%61", None),
            ("/v1/ingest/abc", None),
        ] {
            assert_eq!(plain_token(path), token, "{path}");
        }
    }
}
