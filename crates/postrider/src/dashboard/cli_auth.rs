//! `/cli-auth`: GetHook's command-line client opens it in a browser and waits on this machine for a key. Whoever is
//! signed in agrees, and hands over a key of its own that is made for it.

use super::answer::{Frame, Refused, shown};
use super::guard::{Change, Visitor};
use super::session::Session;
use super::{Shared, inside};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::{Host, Url};

#[derive(Template)]
#[template(path = "cli_auth.html")]
struct CliAuthPage {
    frame: Frame,
    /// Where the client waits, as it said.
    callback: String,
    handed: Option<Handed>,
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    callback: String,
}

/// A key that was just made, and the link that takes it to the client. Both this once.
#[derive(Deserialize, Serialize)]
struct Handed {
    key: String,
    link: String,
}

const HERE: &str = "/cli-auth";
/// What the key is called in the list of keys.
const KEY_NAME: &str = "GetHook CLI";

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    let handed: Option<Handed> = desk.once.told(&session, HERE, &headers);
    let callback = match &handed {
        Some(_) => Ok(String::new()),
        None => on_this_machine(&wanted.callback).map(String::from),
    };
    let frame = Frame::of(Some(&session), "keys");
    let page = callback.map(|callback| CliAuthPage { frame, callback, handed });
    desk.once.taken(HERE, &headers, shown(&session, page))
}

pub(super) async fn agree(State(desk): Shared, Change(session, form): Change) -> Response {
    let callback = match on_this_machine(form.text("callback").unwrap_or_default()) {
        Ok(callback) => callback,
        Err(refused) => return refused.page(Some(&session)),
    };
    match make(&desk.api, &session).await {
        Ok(key) => {
            let link = with_token(callback, &key);
            desk.once.leave(&session, HERE, &Handed { key, link })
        }
        Err(refused) => refused.page(Some(&session)),
    }
}

async fn make(api: &inside::Inside, session: &Session) -> Result<String, Refused> {
    #[derive(Deserialize)]
    struct Made {
        key: String,
    }
    let made = api.post(session, "/v1/api-keys", &json!({ "name": KEY_NAME })).await?;
    inside::part::<Made>(&made).map(|made| made.key)
}

/// Where a client on this machine waits. A link to anywhere else would hand a key to a stranger.
fn on_this_machine(callback: &str) -> Result<Url, Refused> {
    let url = Url::parse(callback).ok().filter(|url| {
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        is_here && url.scheme() == "http" && url.username().is_empty() && url.password().is_none()
    });
    url.ok_or_else(|| {
        let sentence = "callback must be a URL of this machine, such as http://localhost:4000/callback. GetHook's \
            command-line client opens this page with one; make a key for anything else at Keys.";
        Refused::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
    })
}

fn with_token(mut callback: Url, key: &str) -> String {
    callback.query_pairs_mut().append_pair("token", key);
    callback.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_handed_to_this_machine_alone() {
        for (callback, is_here) in [
            ("http://localhost:4000/callback", true),
            ("http://127.0.0.1:4000/callback", true),
            ("http://[::1]:4000/callback", true),
            ("http://localhost.evil.test:4000/", false),
            ("http://evil.test/callback", false),
            ("http://localhost@evil.test/", false),
            ("http://user:password@localhost/", false),
            ("https://evil.test/#http://localhost", false),
            ("//localhost/callback", false),
            ("javascript:alert(1)", false),
            ("", false),
        ] {
            assert_eq!(on_this_machine(callback).is_ok(), is_here, "{callback}");
        }
        let link = with_token(on_this_machine("http://localhost:4000/callback").unwrap(), "hk_a");
        assert_eq!(link, "http://localhost:4000/callback?token=hk_a");
    }
}
