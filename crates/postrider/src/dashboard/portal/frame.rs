//! What surrounds every page of the portal: the account's brand, the way back, and refusals in words.

use super::entry;
use crate::api::Logo;
use crate::dashboard::Desk;
use crate::dashboard::answer::{Refused, html, see_other};
use crate::dashboard::inside::Inside;
use crate::dashboard::session::Session;
use askama::Template;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

/// How the account wants to be seen. All of it was written by somebody; none of it is trusted.
#[derive(Deserialize, Default)]
pub(super) struct Brand {
    company_name: Option<String>,
    docs_title: Option<String>,
    pub(super) primary_color: Option<String>,
    pub(super) support_email: Option<String>,
    logo_url: Option<String>,
}

impl Brand {
    pub(super) fn name(&self) -> &str {
        self.company_name.as_deref().unwrap_or("Webhooks")
    }

    /// The one that we serve ourselves; one of another host is for the account's own pages.
    pub(super) fn logo(&self) -> Option<Logo> {
        self.logo_url.as_deref().and_then(Logo::of_data_url)
    }
}

pub(super) struct Frame {
    pub(super) place: &'static str,
    /// Of the session; empty when there is none.
    pub(super) form_token: String,
    /// Where the link said that its users come from.
    pub(super) way_back: Option<String>,
    pub(super) brand: Brand,
    pub(super) refusal: Option<String>,
}

impl Frame {
    pub(super) fn of_nobody() -> Self {
        let brand = Brand::default();
        Frame { place: "", form_token: String::new(), way_back: None, brand, refusal: None }
    }

    pub(super) async fn of(api: &Inside, session: &Session, place: &'static str) -> Result<Self, Refused> {
        let brand = api.get(session, "/v1/brand-settings").await?;
        let way_back = Some(session.note.clone()).filter(|page| !page.is_empty());
        Ok(Frame { place, form_token: session.form_token.clone(), way_back, brand, refusal: None })
    }

    pub(super) fn refusing(self, refused: Option<Refused>) -> Self {
        Frame { refusal: refused.map(|refused| refused.sentence), ..self }
    }

    pub(super) fn name(&self) -> &str {
        self.brand.name()
    }

    pub(super) fn title(&self) -> &str {
        self.brand.docs_title.as_deref().unwrap_or("Webhooks")
    }
}

#[derive(Template)]
#[template(path = "portal/refused.html")]
struct RefusedPage<'a> {
    frame: Frame,
    sentence: &'a str,
}

/// Without a brand: whoever is refused may be nobody's guest.
pub(super) fn refused(refused: &Refused) -> Response {
    refused.mark(html(&RefusedPage { frame: Frame::of_nobody(), sentence: &refused.sentence }))
}

/// A page, or why there is none. Whoever's link is over is back at the door.
pub(super) fn shown<T: Template>(desk: &Desk, page: Result<T, Refused>) -> Response {
    match page {
        Ok(page) => html(&page),
        Err(over) if over.status == StatusCode::UNAUTHORIZED => entry::over(desk),
        Err(refusal) => refused(&refusal),
    }
}

/// After a change: on to a page that can be loaded again without making the change again.
pub(super) fn done(desk: &Desk, made: Result<impl Sized, Refused>, page: &str) -> Response {
    match made {
        Ok(_) => see_other(page),
        Err(over) if over.status == StatusCode::UNAUTHORIZED => entry::over(desk),
        Err(refusal) => refused(&refusal),
    }
}
