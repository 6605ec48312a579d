//! The door: a link's token becomes a session. It stands behind the `#`, so a script posts it; without scripts it is
//! pasted.

use super::frame::{self, Frame};
use super::guest::GuestChange;
use crate::dashboard::answer::{Refused, html, see_other};
use crate::dashboard::guard::Form;
use crate::dashboard::session::Session;
use crate::dashboard::sign_in::with_cookie;
use crate::dashboard::{Desk, Shared};
use crate::serve::admin_key::hash;
use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::limits::URL_BYTES_MAX;
use serde::de::IgnoredAny;

const NOT_KNOWN: &str = "This link is over, or it is not whole. Ask for a new one where you got it.";

#[derive(Template)]
#[template(path = "portal/entry.html")]
struct Entry {
    frame: Frame,
}

pub(super) async fn page(State(desk): Shared, request: Request) -> Response {
    match desk.hosts.check(request.headers()) {
        Ok(()) => html(&Entry { frame: Frame::of_nobody() }),
        Err(refused) => frame::refused(&refused),
    }
}

pub(super) async fn submit(State(desk): Shared, request: Request) -> Response {
    let form = match Form::read(request, &desk.hosts).await {
        Ok(form) => form,
        Err(refused) => return frame::refused(&refused),
    };
    let (token, way_back) = of_link(form.text("token").unwrap_or_default());
    match begin(&desk, &Session::of_key(hash(&token)), &way_back).await {
        Ok(cookie) => with_cookie(see_other("/portal/destinations"), &cookie),
        Err(refused) if refused.status == StatusCode::UNAUTHORIZED => over(&desk),
        Err(refused) => frame::refused(&refused),
    }
}

async fn begin(desk: &Desk, session: &Session, way_back: &str) -> Result<String, Refused> {
    desk.api.get::<IgnoredAny>(session, "/v1/brand-settings").await?;
    let not_known = || Refused::new(StatusCode::UNAUTHORIZED, NOT_KNOWN);
    let key = desk.app.known_key(&session.key_hash).ok_or_else(not_known)?;
    desk.portal.begin(&session.key_hash, key, way_back).await
}

/// The door again, for somebody whose link does not work or does not work any more.
pub(super) fn over(desk: &Desk) -> Response {
    let refused = Refused::new(StatusCode::UNAUTHORIZED, NOT_KNOWN);
    let mut response = html(&Entry { frame: Frame::of_nobody().refusing(Some(refused)) });
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    with_cookie(response, &desk.portal.no_cookie())
}

pub(super) async fn leave(State(desk): Shared, GuestChange(session, _): GuestChange) -> Response {
    match desk.portal.end(&session).await {
        Ok(no_cookie) => with_cookie(see_other("/portal"), &no_cookie),
        Err(refused) => frame::refused(&refused),
    }
}

/// The token and the way back, from what stands behind the `#`, from the whole link, or from the token alone.
fn of_link(text: &str) -> (String, String) {
    let behind = text.split_once('#').map_or(text, |(_, behind)| behind);
    let find = |name: &str| {
        let mut pairs = url::form_urlencoded::parse(behind.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let token = find("token").unwrap_or_else(|| behind.to_owned());
    (token, find("return_url").filter(|page| is_web_page(page)).unwrap_or_default())
}

/// A page that a link may lead to: nothing that would run here.
fn is_web_page(text: &str) -> bool {
    let parsed = url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    text.len() <= URL_BYTES_MAX && parsed.is_some_and(|url| url.as_str() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_however_much_of_it_was_given() {
        let back = "https://shop.test/?a=b";
        let behind = "token=hk_1&return_url=https%3A%2F%2Fshop.test%2F%3Fa%3Db";
        for given in [behind.to_owned(), format!("#{behind}"), format!("https://a.test/portal#{behind}")] {
            assert_eq!(of_link(&given), ("hk_1".to_owned(), back.to_owned()), "{given}");
        }
        assert_eq!(of_link("hk_1"), ("hk_1".to_owned(), String::new()));
        assert_eq!(of_link(""), (String::new(), String::new()));
    }

    #[test]
    fn the_way_back_is_a_web_page() {
        for bad in ["javascript:alert(1)", "data:text/html,x", "//evil.test", "/here", "https://a.test/\nb"] {
            assert!(!is_web_page(bad), "{bad}");
        }
        assert!(!is_web_page(&format!("https://a.test/{}", "a".repeat(URL_BYTES_MAX))));
        assert!(is_web_page("https://a.test/b?c#d"));
    }
}
