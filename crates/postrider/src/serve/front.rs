//! Who answers a request: the door for events what it can, since nearly all requests are for it; the router all others.

use crate::api::App;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
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

    pub(super) fn door(&self) -> Option<&App> {
        self.door.as_deref()
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response, Infallible> {
        self.router.clone().oneshot(request.map(Body::new)).await
    }
}

impl From<Router> for Front {
    fn from(router: Router) -> Self {
        Front { router, door: None }
    }
}
