//! Who may open a page or make a change: the host must be ours, the visitor signed in, and a form one of our own.

use super::answer::Refused;
use super::session::Session;
use super::{Desk, live, sign_in};
use crate::api::body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::Response;
use http::header::{HOST, ORIGIN, REFERER};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Of a form; the largest is that of a destination.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// The names under which browsers may know us. A page of somebody else can have its own name lead here, and would then
/// read our pages as its own; by an address it cannot.
pub(super) struct Hosts {
    /// The host of `public_url`, and where pages of it come from: behind a proxy requests may name another host.
    public: Option<String>,
    origin: Option<String>,
}

impl Hosts {
    pub(super) fn new(public_url: &str) -> Self {
        let url = url::Url::parse(public_url).ok();
        // One that is of nobody is written as those of strangers are.
        let origin = url.as_ref().map(url::Url::origin).filter(url::Origin::is_tuple);
        let origin = origin.map(|origin| origin.ascii_serialization());
        Hosts { public: url.and_then(|url| url.host_str().map(str::to_owned)), origin }
    }

    fn are_ours(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
        let name = name.map_or(host, |(name, _)| name);
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        is_address || name.eq_ignore_ascii_case("localhost") || self.public.as_deref() == Some(name)
    }

    /// Browsers say where a form was sent from; none of another site is taken.
    fn sent(&self, headers: &HeaderMap) -> bool {
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        origin.is_none_or(|origin| self.is_here(origin, headers))
    }

    fn is_here(&self, origin: &str, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let names_host = origin.split_once("://").is_some_and(|(_, from)| from == host);
        names_host || self.origin.as_deref() == Some(origin)
    }

    /// The page of ours that a form stood on, as a path, if the browser says so.
    pub(super) fn form_stood_on(&self, headers: &HeaderMap) -> Option<String> {
        let referer = headers.get(REFERER)?.to_str().ok()?;
        let (scheme, rest) = referer.split_once("://")?;
        let (host, page) = rest.split_at(rest.find('/')?);
        self.is_here(&format!("{scheme}://{host}"), headers).then(|| page.to_owned())
    }

    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let sentence = "Unknown host name. Open the gateway by its address, or set public_url.";
        if self.are_ours(headers) {
            Ok(())
        } else {
            Err(Refused::new(StatusCode::MISDIRECTED_REQUEST, sentence))
        }
    }
}

/// Somebody who is signed in and looks at a page.
pub(super) struct Visitor(pub(super) Session);

impl FromRequestParts<Arc<Desk>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Arc<Desk>) -> Result<Self, Response> {
        desk.hosts.check(&parts.headers).map_err(|refused| refused.page(None))?;
        let session = match parts.extensions.get::<Session>() {
            Some(found) => Some(found.clone()),
            None => desk.sessions.find(&parts.headers).await.map_err(|refused| refused.page(None))?,
        };
        let session = session.map(|session| live::of_page(session, &parts.extensions));
        session.map(Visitor).ok_or_else(|| sign_in::first(parts, &desk.hosts))
    }
}

/// The fields of a form as they came.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// A field that is there and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim());
        found.filter(|value| !value.is_empty())
    }

    /// A field that is there, empty or not.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// Those of these fields that are there, for the API: what is left empty is taken away, and what is no number is for
    /// the API to refuse.
    pub(super) fn wanted(&self, texts: &[&str], numbers: &[&str]) -> Value {
        let text = |name: &&str| Some(((*name).to_owned(), text_value(name, self.given(name)?)));
        let number = |name: &&str| {
            let given = self.given(name)?;
            let number = given.parse::<u64>().map(|number| json!(number));
            Some(((*name).to_owned(), number.unwrap_or_else(|_| text_value(name, given))))
        };
        Value::Object(texts.iter().filter_map(text).chain(numbers.iter().filter_map(number)).collect())
    }

    /// All of them, to be shown again.
    pub(super) fn pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// Whether a field is there, empty or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// All of one name, as of what was selected.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads a form from where it may come from. Strangers send some, so a body has the deadline that it has at the
    /// API: one that never ends would hold its connection for good.
    pub(super) async fn read(request: Request, hosts: &Hosts) -> Result<Self, Refused> {
        hosts.check(request.headers())?;
        if !hosts.sent(request.headers()) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "The form was sent from another site."));
        }
        let (head, incoming) = request.into_parts();
        let bytes = body::read(&head.headers, incoming, FORM_BYTES_MAX).await.map_err(|refused| {
            let (status, _, sentence) = refused.told();
            Refused::new(status, sentence)
        })?;
        Ok(Form(url::form_urlencoded::parse(&bytes).into_owned().collect()))
    }

    /// Reads a form that one of their own pages has sent.
    pub(super) async fn of_session(
        request: Request,
        hosts: &Hosts,
        session: &Session,
    ) -> Result<Self, Refused> {
        let form = Form::read(request, hosts).await?;
        let token = form.text("form_token").unwrap_or_default().as_bytes();
        if !bool::from(token.ct_eq(session.form_token.as_bytes())) {
            let sentence = "The form belongs to another session. Reload the page.";
            return Err(Refused::new(StatusCode::FORBIDDEN, sentence));
        }
        Ok(form)
    }
}

/// A name cannot be taken away, so an empty one is for the API to refuse.
fn text_value(name: &str, given: &str) -> Value {
    if given.is_empty() && name != "name" { Value::Null } else { json!(given) }
}

/// Somebody who is signed in and makes a change with one of our forms.
pub(super) struct Change(pub(super) Session, pub(super) Form);

impl FromRequest<Arc<Desk>> for Change {
    type Rejection = Response;

    async fn from_request(request: Request, desk: &Arc<Desk>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Visitor(session) = Visitor::from_request_parts(&mut parts, desk).await?;
        let form = Form::of_session(Request::from_parts(parts, body), &desk.hosts, &session).await;
        let form = form.map_err(|refused| refused.page(Some(&session)))?;
        Ok(Change(session, form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::body::tests::dripping;
    use axum::body::Body;

    #[tokio::test(start_paused = true)]
    async fn a_form_that_drips_in_is_refused_at_a_deadline() {
        let request = Request::post("/sign-in").header(HOST, "localhost").body(Body::new(dripping()));
        let refused = Form::read(request.unwrap(), &Hosts::new("http://localhost")).await.err().unwrap();
        assert_eq!(refused.status, StatusCode::REQUEST_TIMEOUT);
    }

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_names_that_nobody_else_can_have_are_ours() {
        let hosts = Hosts::new("https://hooks.example.com/base");
        for (host, ours) in [
            ("127.0.0.1:8080", true),
            ("[::1]:8080", true),
            ("192.168.1.4", true),
            ("localhost:8080", true),
            ("hooks.example.com", true),
            ("hooks.example.com:443", true),
            ("example.com", false),
            ("evil.test:8080", false),
            ("127.0.0.1.evil.test", false),
            ("", false),
        ] {
            assert_eq!(hosts.are_ours(&headers(host, None)), ours, "{host}");
        }
        assert!(!hosts.are_ours(&HeaderMap::new()));
    }

    #[test]
    fn a_form_comes_from_our_own_pages() {
        let hosts = Hosts::new("http://127.0.0.1:8080");
        for (origin, sent) in [
            (None, true),
            (Some("http://127.0.0.1:8080"), true),
            (Some("http://127.0.0.1:3000"), false),
            (Some("https://evil.test"), false),
            (Some("null"), false),
        ] {
            assert_eq!(hosts.sent(&headers("127.0.0.1:8080", origin)), sent, "{origin:?}");
        }
    }

    #[test]
    fn behind_a_proxy_that_names_another_host_a_form_comes_from_the_public_url() {
        for (public_url, origin, sent) in [
            ("https://hooks.example.com/base", "https://hooks.example.com", true),
            ("https://hooks.example.com:8443/", "https://hooks.example.com:8443", true),
            ("https://hooks.example.com", "http://hooks.example.com", false),
            ("https://hooks.example.com", "https://hooks.example.com:8443", false),
            ("https://hooks.example.com", "https://hooks.example.com.evil.test", false),
            ("https://hooks.example.com", "null", false),
            ("nothing:", "null", false),
        ] {
            let hosts = Hosts::new(public_url);
            assert_eq!(hosts.sent(&headers("127.0.0.1:8080", Some(origin))), sent, "{public_url} {origin}");
        }
    }
}
