//! Who may see pages and make changes: nobody without a key, nothing beyond the key, no other site.

use super::browser::{Browser, next};
use crate::rig::client::{Client, head};
use crate::rig::{Api, Site};
use serde_json::json;

/// Every page that shows something.
pub(super) const PAGES: [&str; 15] = [
    "/",
    "/events",
    "/tail",
    "/deliveries",
    "/destinations",
    "/dead-letters",
    "/replays",
    "/sources",
    "/routes",
    "/routes/test",
    "/keys",
    "/accounts",
    "/cluster",
    "/settings",
    "/audit",
];

#[test]
fn strangers_are_asked_to_sign_in_and_come_back_to_where_they_were() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let mut browser = Browser::stranger(&api);
    for page in PAGES {
        let place = next(&browser.send("GET", page, &[], ""));
        assert!(place.starts_with("/sign-in"), "{page}: {place}");
    }
    assert_eq!(
        next(&browser.send("GET", "/events?status=queued", &[], "")),
        "/sign-in?next=%2Fevents%3Fstatus%3Dqueued"
    );
    for wrong in ["", "hk_wrong", &"x".repeat(10_000)] {
        let answer = browser.sign_in(wrong);
        assert_eq!((answer.status, answer.headers.get("set-cookie")), (401, None), "{answer}");
    }
    let signed_in = browser.submit("/sign-in?next=%2Fkeys", &[("key", &api.key)], &[]);
    assert_eq!(next(&signed_in), "/keys");
    browser.sign_in(&api.key);
    assert!(browser.page("/").contains("Sign out"));
    let out = browser.change("/sign-out", &[]);
    assert!(out.headers.get("set-cookie").unwrap().contains("Max-Age=0"), "{out}");
}

#[test]
fn who_is_signed_out_meanwhile_comes_back_to_the_page_that_the_form_stood_on() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    let (stranger, known) = (Browser::stranger(&api), Browser::signed_in(&api));
    let page = format!("/destinations/{destination}");
    let (pause, delete) = (format!("{page}/pause"), format!("{page}/delete"));
    let here = |page: &str| Some(format!("http://localhost{page}"));
    for (form, referer, expected) in [
        (pause.as_str(), here("/destinations?cursor="), "/destinations?cursor="),
        (&pause, here(&page), page.as_str()),
        (&delete, here(&delete), page.as_str()),
        (&pause, None, page.as_str()),
        (&pause, Some("https://evil.test/events".to_owned()), page.as_str()),
        (&pause, Some("http://localhost.evil.test/events".to_owned()), page.as_str()),
        ("/dead-letters/dlv_0/replay", None, "/dead-letters"),
        ("/dead-letters/discard", here("/dead-letters/discard"), "/dead-letters"),
        ("/sources", None, "/sources"),
        ("/look", None, "/"),
        ("/sign-out", None, "/"),
    ] {
        let headers: Vec<(&str, &str)> =
            referer.as_deref().map(|referer| ("referer", referer)).into_iter().collect();
        let place = next(&stranger.submit(form, &[("form_token", "old")], &headers));
        let signed_in = next(&stranger.submit(&place, &[("key", &api.key)], &[]));
        assert_eq!(signed_in, expected, "{form} from {referer:?}");
        known.page(&signed_in);
    }
}

#[test]
fn a_page_shows_and_does_what_its_key_may() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    let key = |scope: &str| -> (String, Api) {
        let made = api.post("/v1/api-keys", &json!({ "name": scope, "scope": scope })).data(201);
        (made["id"].as_str().unwrap().to_owned(), api.with_key(made["key"].as_str().unwrap()))
    };
    let (_, ingest) = key("ingest");
    assert_eq!(Browser::stranger(&api).sign_in(&ingest.key).status, 403);

    let (id, read) = key("read");
    let browser = Browser::signed_in(&read);
    assert!(browser.page(&format!("/destinations/{destination}")).contains("127.0.0.1:9"));
    assert_eq!(browser.change(&format!("/destinations/{destination}/pause"), &[]).status, 403);
    assert_eq!(api.get(&format!("/v1/destinations/{destination}")).data(200)["status"], "active");

    api.delete(&format!("/v1/api-keys/{id}")).nothing();
    let answer = browser.send("GET", "/destinations", &[], "");
    assert!(next(&answer).starts_with("/sign-in"), "a revoked key is signed out: {answer}");
}

#[test]
fn no_other_site_can_make_a_change_or_read_a_page() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let token = browser.token();
    let make = |token: &str, headers: &[(&str, &str)]| {
        browser.submit("/sources", &[("name", "made"), ("form_token", token)], headers).status
    };
    assert_eq!(make("", &[]), 403);
    assert_eq!(make(&token[1..], &[]), 403);
    assert_eq!(make(&token, &[("origin", "https://evil.test")]), 403);
    assert_eq!(make(&token, &[("origin", "null")]), 403);
    let count = || api.get("/v1/sources").data(200).as_array().unwrap().len();
    let before = count();
    assert_eq!(make(&token, &[("origin", "http://localhost")]), 303);
    assert_eq!(count(), before + 1);

    // A name that somebody else leads here.
    let raw = format!("GET / HTTP/1.1\r\nhost: evil.test\r\ncookie: {}\r\n\r\n", browser.cookie);
    let mut client = Client::connect(site.address()).unwrap();
    client.write(raw.as_bytes()).unwrap();
    assert_eq!(client.answer().unwrap().status, 421);
    // A cookie that was not made here, or of another key of the gateway.
    let mut forged = Browser::stranger(&api);
    let (whole, byte) = (browser.cookie.clone(), browser.cookie.len() - 2);
    let other = if whole[byte..].starts_with('A') { "B" } else { "A" };
    forged.cookie = format!("{}{other}{}", &whole[..byte], &whole[byte + 1..]);
    assert_eq!(forged.send("GET", "/", &[], "").status, 303);
}

#[test]
fn behind_a_proxy_a_form_comes_from_the_public_url_whatever_host_it_names() {
    let site = Site::new().with(&["--public-url", "https://hooks.example.com"]);
    let gateway = site.start();
    let browser = Browser::signed_in(&gateway.api());
    let token = browser.token();
    // The proxy asks by the gateway's own address.
    let make = |origin: &str| {
        let fields = [("name", "made"), ("form_token", token.as_str())];
        browser.submit("/sources", &fields, &[("origin", origin)]).status
    };
    assert_eq!(make("https://hooks.example.com"), 303);
    assert_eq!(make("http://hooks.example.com"), 403);
    assert_eq!(make("https://evil.test"), 403);
}

#[test]
fn pages_allow_nothing_but_what_this_gateway_serves() {
    let site = Site::new();
    let gateway = site.start();
    let browser = Browser::signed_in(&gateway.api());
    for page in PAGES.into_iter().chain(["/sign-in", "/assets/page.js", "/assets/page.css", "/events/evt_0"])
    {
        let answer = browser.send("GET", page, &[], "");
        let header =
            |name: &str| answer.headers.get(name).unwrap_or_else(|| panic!("{page}: no {name}")).to_owned();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cache-control"), "no-store");
        assert!(answer.body.len() < 100_000, "{page} has {} bytes", answer.body.len());
        let text = String::from_utf8(answer.body).unwrap();
        let of_page = !page.starts_with("/assets");
        assert!(
            !of_page || !text.contains(" style=") && !text.contains(" onclick="),
            "{page} would be blocked"
        );
    }
}

#[test]
fn forms_that_never_end_give_their_connections_back() {
    let site = Site::new();
    let gateway = site.start();
    let cookie = Browser::signed_in(&gateway.api()).cookie;
    let stalled = ["/sign-in", "/portal", "/sources"].map(|path| {
        let mut client = Client::connect(site.address()).unwrap();
        let mut begun = head("POST", path, &[("content-length", "100"), ("cookie", &cookie)]);
        begun.extend(b"\r\nkey=hk_");
        client.write(&begun).unwrap();
        (path, client)
    });
    for (path, mut client) in stalled {
        assert_eq!(client.answer().unwrap().status, 408, "{path}");
        assert!(client.answer().is_err(), "{path}: the connection is closed");
    }
}
