//! What is shown once: the secret, key or link that a change has made, or what came of a trial. The change leads on to a
//! page, so that nobody makes it again by loading that. What the page shows goes there in a cookie, sealed, since one
//! that is kept here would be unknown to other nodes; showing it takes it away.

use super::answer::see_other;
use super::session::Session;
use super::sign_in::with_cookie;
use axum::response::Response;
use http::HeaderMap;
use http::header::COOKIE;
use postrider_store::Vault;
use serde::Serialize;
use serde::de::DeserializeOwned;

const COOKIE_NAME: &str = "postrider_once";
/// For the next page to be asked for.
const LIFE_SECONDS: u32 = 60;

/// Seals it and opens it.
pub(super) struct Once {
    vault: Vault,
    /// Told to the browser: that nobody else may have it.
    attributes: String,
}

impl Once {
    /// By a key that all nodes have and that is for nothing else.
    pub(super) fn new(key: [u8; 32], public_url: &str) -> Self {
        let secure = if public_url.starts_with("https://") { "; Secure" } else { "" };
        Once { vault: Vault::new(key, &[]), attributes: format!("; HttpOnly; SameSite=Strict{secure}") }
    }

    /// On to a page, which shows this to whoever is signed in now and to nobody else.
    pub(super) fn leave(&self, session: &Session, page: &str, told: &impl Serialize) -> Response {
        let text = serde_json::to_string(told).expect("what is shown has names that are texts");
        let sealed = self.vault.seal(&place(session, page), &text);
        with_cookie(see_other(page), &self.cookie(page, &sealed, LIFE_SECONDS))
    }

    /// What this page is to show.
    pub(super) fn told<T: DeserializeOwned>(
        &self,
        session: &Session,
        page: &str,
        headers: &HeaderMap,
    ) -> Option<T> {
        let mut opened = sealed(headers).filter_map(|text| self.vault.open(&place(session, page), text).ok());
        serde_json::from_str(&opened.next()?).ok()
    }

    /// The page that has shown it. One that was refused has not.
    pub(super) fn taken(&self, page: &str, headers: &HeaderMap, response: Response) -> Response {
        if sealed(headers).next().is_none() || !response.status().is_success() {
            return response;
        }
        with_cookie(response, &self.cookie(page, "", 0))
    }

    fn cookie(&self, page: &str, value: &str, seconds: u32) -> String {
        format!("{COOKIE_NAME}={value}; Max-Age={seconds}; Path={page}{}", self.attributes)
    }
}

/// It opens in one session, on one page.
fn place(session: &Session, page: &str) -> String {
    format!("{} {page}", session.form_token)
}

/// Of this page and of those above it.
fn sealed(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{LOCATION, SET_COOKIE};

    fn session(token: &str) -> Session {
        let mut session = Session::of_key([1; 32]);
        session.form_token = token.to_owned();
        session
    }

    /// What the browser sends back.
    fn headers(left: &Response) -> HeaderMap {
        let cookie = left.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap();
        HeaderMap::from_iter([(COOKIE, format!("postrider_session=x; {cookie}").parse().unwrap())])
    }

    #[test]
    fn it_is_for_one_page_of_one_session_of_one_gateway() {
        let once = Once::new([7; 32], "https://hooks.example.com");
        let left = once.leave(&session("a"), "/keys", &"hk_secret");
        assert_eq!((left.status().as_u16(), &left.headers()[LOCATION]), (303, &"/keys".parse().unwrap()));
        let cookie = left.headers()[SET_COOKIE].to_str().unwrap();
        assert!(cookie.ends_with("; Max-Age=60; Path=/keys; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
        assert!(!cookie.contains("hk_secret"), "{cookie}");
        let told = |once: &Once, token: &str, page: &str| {
            once.told::<String>(&session(token), page, &headers(&left))
        };
        assert_eq!(told(&once, "a", "/keys").as_deref(), Some("hk_secret"));
        assert_eq!(told(&once, "b", "/keys"), None, "another session");
        assert_eq!(told(&once, "a", "/accounts"), None, "another page");
        assert_eq!(told(&Once::new([8; 32], ""), "a", "/keys"), None, "another gateway");
        assert_eq!(once.told::<String>(&session("a"), "/keys", &HeaderMap::new()), None);
    }

    #[test]
    fn a_page_that_has_shown_it_takes_it_away() {
        let once = Once::new([7; 32], "");
        let given = headers(&once.leave(&session("a"), "/keys", &"hk_secret"));
        let cookie = |headers: &HeaderMap, response| {
            let taken = once.taken("/keys", headers, response);
            taken.headers().get(SET_COOKIE).map(|cookie| cookie.to_str().unwrap().to_owned())
        };
        let taken = "postrider_once=; Max-Age=0; Path=/keys; HttpOnly; SameSite=Strict";
        assert_eq!(cookie(&given, Response::default()).as_deref(), Some(taken));
        assert_eq!(cookie(&HeaderMap::new(), Response::default()), None);
        let mut refused = Response::default();
        *refused.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(cookie(&given, refused), None, "it may be asked for again");
    }
}
