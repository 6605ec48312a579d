//! Who may open a page of the portal or make a change there: whoever came by a link, with a form of their own session.

use super::{entry, frame};
use crate::dashboard::answer::see_other;
use crate::dashboard::guard::Form;
use crate::dashboard::session::Session;
use crate::dashboard::{Desk, live};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::Response;
use http::request::Parts;
use std::sync::Arc;

/// Somebody who came by a link and looks at a page.
pub(super) struct Guest(pub(super) Session);

impl FromRequestParts<Arc<Desk>> for Guest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Arc<Desk>) -> Result<Self, Response> {
        desk.hosts.check(&parts.headers).map_err(|refused| frame::refused(&refused))?;
        let session = desk.portal.find(&parts.headers).await.map_err(|refused| frame::refused(&refused))?;
        let session = session.map(|session| live::of_page(session, &parts.extensions));
        session.map(Guest).ok_or_else(|| match desk.portal.was_made_here(&parts.headers) {
            true => entry::over(desk),
            false => see_other("/portal"),
        })
    }
}

/// Somebody who came by a link and makes a change with one of our forms.
pub(super) struct GuestChange(pub(super) Session, pub(super) Form);

impl FromRequest<Arc<Desk>> for GuestChange {
    type Rejection = Response;

    async fn from_request(request: Request, desk: &Arc<Desk>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Guest(session) = Guest::from_request_parts(&mut parts, desk).await?;
        let form = Form::of_session(Request::from_parts(parts, body), &desk.hosts, &session).await;
        let form = form.map_err(|refused| frame::refused(&refused))?;
        Ok(GuestChange(session, form))
    }
}
