//! The door: a link's token becomes a session. It stands behind the `#`, so a script posts it; without scripts it is
//! pasted.

use super::frame::{self, Brand, Frame};
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
use subtle::ConstantTimeEq;

const NOT_KNOWN: &str = "This link has expired or is incomplete. Request a new one where you got it.";

#[derive(Template)]
#[template(path = "portal/entry.html")]
struct Entry {
    frame: Frame,
}

/// Asks somebody who is in a portal already: a link is written by anybody.
#[derive(Template)]
#[template(path = "portal/replace.html")]
struct Replace {
    frame: Frame,
    /// Whose portal the link opens.
    other: String,
    link: String,
}

/// Asks somebody who is in none: whoever made the link sees what is entered behind it.
#[derive(Template)]
#[template(path = "portal/confirm.html")]
struct Confirm {
    frame: Frame,
    /// Whose portal the link opens.
    other: String,
    link: String,
}

pub(super) async fn page(State(desk): Shared, request: Request) -> Response {
    match desk.hosts.check(request.headers()) {
        Ok(()) => html(&Entry { frame: Frame::of_nobody() }),
        Err(refused) => frame::refused(&refused),
    }
}

pub(super) async fn submit(State(desk): Shared, request: Request) -> Response {
    let there = match desk.portal.find(request.headers()).await {
        Ok(there) => there,
        Err(refused) => return frame::refused(&refused),
    };
    let form = match Form::read(request, &desk.hosts).await {
        Ok(form) => form,
        Err(refused) => return frame::refused(&refused),
    };
    let link = Link::of(form.text("token").unwrap_or_default());
    match enter(&desk, there.as_ref(), &link, &form).await {
        Ok(response) => response,
        // A link that does not work ends nobody's session.
        Err(refused) if refused.status == StatusCode::UNAUTHORIZED && there.is_none() => over(&desk),
        Err(refused) if refused.status == StatusCode::UNAUTHORIZED => {
            frame::refused(&Refused { sentence: NOT_KNOWN.to_owned(), ..refused })
        }
        Err(refused) => frame::refused(&refused),
    }
}

async fn enter(desk: &Desk, there: Option<&Session>, link: &Link, form: &Form) -> Result<Response, Refused> {
    let guest = Session::of_key(hash(&link.token));
    let key = desk.app.shown_key(&guest.key_hash)?;
    let brand: Brand = desk.api.get(&guest, "/v1/brand-settings").await?;
    let written = || form.text("token").unwrap_or_default().to_owned();
    // A script that finds a link in the address sends it without this; a form of another origin is not read at all.
    if there.is_none() && form.text("confirmed") != Some("yes") {
        let page = Confirm { frame: Frame::of_nobody(), other: brand.name().to_owned(), link: written() };
        return Ok(html(&page));
    }
    if let Some(there) = there {
        let agreed = form.text("form_token").unwrap_or_default().as_bytes();
        let is_asked = there.key_hash != guest.key_hash;
        if is_asked && !bool::from(agreed.ct_eq(there.form_token.as_bytes())) {
            let frame = Frame::of(&desk.api, there, "").await?;
            return Ok(html(&Replace { frame, other: brand.name().to_owned(), link: written() }));
        }
        desk.portal.end(there).await?;
    }
    let cookie = desk.portal.begin(&guest.key_hash, key, &link.way_back(desk)).await?;
    Ok(with_cookie(see_other("/portal/destinations"), &cookie))
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

/// What stands behind the `#`.
#[derive(Debug, Default, PartialEq)]
struct Link {
    token: String,
    return_url: String,
    proof: String,
}

impl Link {
    /// Reads it from what stands behind the `#`, from the whole link, or from the token alone.
    fn of(text: &str) -> Self {
        let behind = text.split_once('#').map_or(text, |(_, behind)| behind);
        let find = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(behind.as_bytes());
            pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
        };
        let [return_url, proof] = ["return_url", "proof"].map(|name| find(name).unwrap_or_default());
        Link { token: find("token").unwrap_or_else(|| behind.to_owned()), return_url, proof }
    }

    /// Where the account has said that its users go back to; empty if it has not.
    fn way_back(&self, desk: &Desk) -> String {
        let is_theirs = desk.app.leads_back(&self.token, &self.return_url, &self.proof);
        if is_theirs { self.return_url.clone() } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_however_much_of_it_was_given() {
        let behind = "token=hk_1&return_url=https%3A%2F%2Fshop.test%2F%3Fa%3Db&proof=x-_1";
        let link = Link {
            token: "hk_1".to_owned(),
            return_url: "https://shop.test/?a=b".to_owned(),
            proof: "x-_1".to_owned(),
        };
        for given in [behind.to_owned(), format!("#{behind}"), format!("https://a.test/portal#{behind}")] {
            assert_eq!(Link::of(&given), link, "{given}");
        }
        assert_eq!(Link::of("hk_1"), Link { token: "hk_1".to_owned(), ..Link::default() });
        assert_eq!(Link::of(""), Link::default());
    }
}
