//! What goes back to the browser: pages, files, other pages to go to, and refusals in words.

use super::looking::LookedAt;
use super::session::Session;
use super::visible::visible;
use crate::api::ApiError;
use askama::Template;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, StatusCode};

/// Only what this gateway itself serves, and no script but its file: what events carry stays text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Why a page was not shown or a change not made, in a sentence.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
    /// The word of the API for it; empty for what the pages refuse themselves.
    pub(super) code: String,
    /// The field at fault, as the API names it.
    pub(super) field: Option<String>,
    /// When to come again, as the API says it.
    pub(super) retry_after: Option<HeaderValue>,
}

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    frame: Frame,
    status: u16,
    sentence: &'a str,
}

impl Refused {
    pub(super) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Refused { status, sentence: sentence.into(), code: String::new(), field: None, retry_after: None }
    }

    /// Puts on a page that it is refused.
    pub(super) fn mark(&self, mut page: Response) -> Response {
        *page.status_mut() = self.status;
        page.headers_mut().extend(self.retry_after.clone().map(|wait| (RETRY_AFTER, wait)));
        page
    }

    /// As a page, in the frame of who is signed in.
    pub(super) fn page(&self, session: Option<&Session>) -> Response {
        let frame = Frame::of(session, "");
        let page = RefusedPage { frame, status: self.status.as_u16(), sentence: &self.sentence };
        self.mark(html(&page))
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        let (status, _, sentence) = error.told();
        let retry_after = error.into_response().headers().get(RETRY_AFTER).cloned();
        Refused { retry_after, ..Refused::new(status, sentence) }
    }
}

/// What surrounds every page.
pub(super) struct Frame {
    /// The part of the dashboard that the page belongs to.
    pub(super) place: &'static str,
    /// Of the session; empty when nobody is signed in.
    pub(super) form_token: String,
    /// Why what was asked for was not done.
    pub(super) refusal: Option<String>,
    /// Whether pages about the whole gateway are shown the way to.
    pub(super) is_operator: bool,
    /// Whether the key changes nothing, so that the page offers no change.
    pub(super) is_reader: bool,
    /// Another account that the operator looks at.
    pub(super) looked_at: Option<LookedAt>,
}

impl Frame {
    pub(super) fn of(session: Option<&Session>, place: &'static str) -> Self {
        let form_token = session.map(|session| session.form_token.clone()).unwrap_or_default();
        let is_operator = session.is_some_and(Session::is_operator);
        let is_reader = session.is_some_and(Session::is_reader);
        let looked_at = session.and_then(Session::looked_at);
        let looked_at = looked_at.map(|(id, name)| LookedAt { id: id.to_owned(), name: name.to_owned() });
        Frame { place, form_token, refusal: None, is_operator, is_reader, looked_at }
    }

    pub(super) fn refusing(self, refused: Option<Refused>) -> Self {
        Frame { refusal: refused.map(|refused| refused.sentence), ..self }
    }
}

pub(super) fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => file("text/html; charset=utf-8", visible(text)),
        Err(error) => {
            tracing::error!(%error, "failed to render a page");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page, or why there is none.
pub(super) fn shown<T: Template>(session: &Session, page: Result<T, Refused>) -> Response {
    page.map_or_else(|refused| refused.page(Some(session)), |page| html(&page))
}

/// After a change: on to a page that can be loaded again without making the change again.
pub(super) fn done(session: &Session, made: Result<impl Sized, Refused>, page: &str) -> Response {
    made.map_or_else(|refused| refused.page(Some(session)), |_| see_other(page))
}

/// On to another page of ours. Ids were checked by the API before they come here; anything else goes home.
pub(super) fn see_other(page: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let place = HeaderValue::from_str(page).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, place);
    response
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../../assets/page.css").to_owned())
}

pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../assets/page.js").to_owned())
}

pub(super) async fn portal_style() -> Response {
    file("text/css; charset=utf-8", include_str!("../../assets/portal.css").to_owned())
}

pub(super) async fn portal_script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../assets/portal.js").to_owned())
}

pub(super) async fn tail_script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../assets/tail.js").to_owned())
}

pub(super) async fn icon() -> Response {
    file("image/svg+xml", include_str!("../../assets/icon.svg").to_owned())
}

pub(super) fn file(content_type: &'static str, text: String) -> Response {
    let mut response = Response::new(text.into());
    let headers: [(HeaderName, &'static str); 5] = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without it browsers do not say of our own forms where they come from.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}
