//! A browser: keeps the cookie, reads forms out of pages, and sends them as they are filled in.

use crate::rig::Answer;
use crate::rig::Api;
use crate::rig::client::{Client, request};
use crate::rig::stream::Stream;
use std::net::SocketAddr;
use url::form_urlencoded::Serializer;

pub(crate) struct Browser {
    address: SocketAddr,
    pub(crate) cookie: String,
}

impl Browser {
    /// Opens a browser that is signed in by the key of `api`.
    pub(crate) fn signed_in(api: &Api) -> Self {
        let mut browser = Browser { address: api.address, cookie: String::new() };
        let answer = browser.sign_in(&api.key);
        assert_eq!((answer.status, answer.headers.get("location")), (303, Some("/")), "{answer}");
        browser
    }

    pub(crate) fn stranger(api: &Api) -> Self {
        Browser { address: api.address, cookie: String::new() }
    }

    pub(crate) fn sign_in(&mut self, key: &str) -> Answer {
        let answer = self.submit("/sign-in", &[("key", key)], &[]);
        if let Some(cookie) = answer.headers.get("set-cookie") {
            assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
            assert!(cookie.len() <= 4096, "no browser keeps {} bytes", cookie.len());
            self.cookie = cookie.split(';').next().unwrap().to_owned();
        }
        answer
    }

    /// An answer, whatever it is. Pages are not in the description of the API, so nothing checks them against it.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = headers.to_vec();
        if !self.cookie.is_empty() {
            all.push(("cookie", &self.cookie));
        }
        let mut client = Client::connect(self.address).unwrap();
        client.write(&request(method, path, &all, body.as_bytes())).unwrap();
        client.answer().unwrap()
    }

    /// The text of a page.
    pub(crate) fn page(&self, path: &str) -> String {
        let answer = self.send("GET", path, &[], "");
        assert_eq!(answer.status, 200, "{path}: {answer}");
        String::from_utf8(answer.body).unwrap()
    }

    /// A page as somebody has it who stays on it: the stream of what changes.
    pub(crate) fn follow(&self, path: &str) -> Stream {
        Stream::begin(self.address, path, &[("accept", "text/event-stream"), ("cookie", &self.cookie)])
    }

    /// The page that a change leads on to, with what it shows this once.
    pub(crate) fn shown_once(&self, changed: &Answer) -> String {
        let cookie =
            changed.headers.get("set-cookie").unwrap_or_else(|| panic!("nothing is shown: {changed}"));
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        assert!(cookie.len() <= 4096, "no browser keeps {} bytes", cookie.len());
        let cookie = cookie.split(';').next().unwrap_or_default();
        let page = self.send("GET", &next(changed), &[("cookie", cookie)], "");
        let taken = page.headers.get("set-cookie").unwrap_or_default();
        assert!(taken.starts_with("postrider_once=; Max-Age=0; "), "it is taken away: {taken}");
        String::from_utf8(page.body).expect("a page is text")
    }

    /// Sends a form with these fields and nothing else.
    pub(crate) fn submit(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send("POST", path, headers, &body)
    }

    /// Sends a form of a page of ours: with the token that stands in it.
    pub(crate) fn change(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token();
        let mut all = fields.to_vec();
        all.push(("form_token", &token));
        self.submit(path, &all, &[])
    }

    /// Sends the form of a page that was opened a while ago: with what stood hidden in it then.
    pub(crate) fn save(&self, opened: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let (_, form) = opened.split_once(&format!("action=\"{path}\">")).expect("the page has this form");
        let (_, rest) = form.split_once("name=\"seen\" value=\"").expect("the form knows what it shows");
        let seen = rest.split('"').next().unwrap().replace("&#34;", "\"");
        assert!(!seen.is_empty(), "{path} shows something without a tag");
        self.change(path, &[fields, &[("seen", &seen)]].concat())
    }

    pub(crate) fn token(&self) -> String {
        let page = self.page("/keys");
        let (_, rest) = page.split_once("name=\"form_token\" value=\"").expect("every page has a form");
        rest.split('"').next().unwrap().to_owned()
    }
}

/// Where an answer sends the browser.
pub(crate) fn next(answer: &Answer) -> String {
    assert_eq!(answer.status, 303, "{answer}");
    answer.headers.get("location").unwrap().to_owned()
}
