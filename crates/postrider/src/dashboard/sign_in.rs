//! Signing in by a key, and out.

use super::answer::{Frame, Refused, html, see_other};
use super::guard::{Change, Form, Hosts};
use super::inside::path;
use super::session::{OPERATOR, READER, Session};
use super::{Desk, Shared};
use crate::serve::admin_key::hash;
use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::response::Response;
use http::header::SET_COOKIE;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Frame,
    next: String,
}

pub(super) async fn page(State(desk): Shared, request: Request) -> Response {
    if let Err(refused) = desk.hosts.check(request.headers()) {
        return refused.page(None);
    }
    html(&SignInPage { frame: Frame::of(None, ""), next: next_of(request.uri().query()) })
}

/// Signing in comes first, and then the page that was asked for. A form is not sent again: who filled it in comes back to
/// the page that it stood on.
pub(super) fn first(asked: &Parts, hosts: &Hosts) -> Response {
    let page = asked.uri.path_and_query().map_or("/", |asked| asked.as_str());
    let next = match asked.method {
        Method::POST => page_of(&hosts.form_stood_on(&asked.headers).unwrap_or_else(|| page.to_owned())),
        _ => page.to_owned(),
    };
    see_other(&path("/sign-in", &[("next", Some(next.as_str()).filter(|next| *next != "/"))]))
}

/// The page at a path or above it: what a button does stands below the page that has the button.
fn page_of(asked: &str) -> String {
    let parts: Vec<&str> = asked.split('?').next().unwrap_or_default().split('/').skip(1).collect();
    match parts.as_slice() {
        ["look" | "sign-out", ..] => "/".to_owned(),
        ["dead-letters", _, ..] => "/dead-letters".to_owned(),
        [list, one, _, ..] => format!("/{list}/{one}"),
        _ => asked.to_owned(),
    }
}

pub(super) async fn submit(State(desk): Shared, RawQuery(query): RawQuery, request: Request) -> Response {
    let form = match Form::read(request, &desk.hosts).await {
        Ok(form) => form,
        Err(refused) => return refused.page(None),
    };
    let next = next_of(query.as_deref());
    let session = Session::of_key(hash(form.text("key").unwrap_or_default()));
    match begin(&desk, &session).await {
        Ok(cookie) => with_cookie(see_other(&next), &cookie),
        Err(refused) => {
            let frame = Frame { refusal: Some(refused.sentence.clone()), ..Frame::of(None, "") };
            refused.mark(html(&SignInPage { frame, next }))
        }
    }
}

async fn begin(desk: &Desk, session: &Session) -> Result<String, Refused> {
    let key = desk.app.shown_key(&session.key_hash).map_err(|error| match Refused::from(error) {
        refused if refused.status == StatusCode::UNAUTHORIZED => not_known(),
        refused => refused,
    })?;
    try_key(desk, session).await?;
    let note = note(desk, session).await;
    desk.sessions.begin(&session.key_hash, key, note).await
}

fn not_known() -> Refused {
    let sentence = "Unknown, revoked or expired key. The admin key is in admin.key in the data directory.";
    Refused::new(StatusCode::UNAUTHORIZED, sentence)
}

/// A key that may not look at destinations has nothing to see here.
async fn try_key(desk: &Desk, session: &Session) -> Result<(), Refused> {
    let seen = desk.api.get::<Value>(session, "/v1/destinations?limit=1").await;
    seen.map(drop).map_err(|refused| match refused.status {
        StatusCode::UNAUTHORIZED => not_known(),
        _ => refused,
    })
}

/// Whose key it is decides which pages are shown the way to and which forms are offered; what they may do the API decides
/// each time.
async fn note(desk: &Desk, session: &Session) -> &'static str {
    if desk.api.get::<IgnoredAny>(session, "/v1/settings").await.is_ok() {
        return OPERATOR;
    }
    // A change of nothing: whoever may make changes is told that it is not found.
    match desk.api.post(session, "/v1/destinations/none/resume", &json!({})).await {
        Err(refused) if refused.status == StatusCode::FORBIDDEN => READER,
        _ => "",
    }
}

pub(super) async fn out(State(desk): Shared, Change(session, _): Change) -> Response {
    match desk.sessions.end(&session).await {
        Ok(no_cookie) => with_cookie(see_other("/sign-in"), &no_cookie),
        Err(refused) => refused.page(Some(&session)),
    }
}

/// The page that comes next: a path that no browser takes for another host.
fn next_of(query: Option<&str>) -> String {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let asked = pairs.into_iter().find(|(name, _)| name == "next").map(|(_, value)| value.into_owned());
    asked.as_deref().and_then(ours).unwrap_or("/").to_owned()
}

/// A path, if it is one of ours.
pub(super) fn ours(page: &str) -> Option<&str> {
    let plain = page.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_ours = plain && page.starts_with('/') && !page.starts_with("//");
    is_ours.then_some(page)
}

pub(super) fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_one_of_ours() {
        for (query, page) in [
            ("next=%2Fevents%3Fstatus%3Dqueued", "/events?status=queued"),
            ("next=https%3A%2F%2Fevil.test", "/"),
            ("next=%2F%2Fevil.test", "/"),
            ("next=%2F%5Cevil.test", "/"),
            ("next=%2F%09%2Fevil.test", "/"),
            ("next=javascript%3Aalert(1)", "/"),
            ("", "/"),
        ] {
            assert_eq!(next_of(Some(query)), page, "{query}");
        }
    }
}
