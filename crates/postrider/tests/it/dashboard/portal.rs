//! The portal as users of an account have it: a link, pages of their own account, and its brand.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Answer, Api, Gateway, Reply, Sink, Site};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Would run if it were not shown as text.
const HOSTILE: &str = "<script>alert(1)</script><svg onload=alert(2)>\u{2028}\"'&";

const PAGES: [&str; 3] = ["/portal/destinations", "/portal/events", "/portal/dead-letters"];

/// A browser that came by a link.
pub(super) struct Guest(pub(super) Browser);

impl Guest {
    pub(super) fn by_link(api: &Api, body: &Value) -> Self {
        let link = text(&api.post("/v1/portal-sessions", body).data(201)["url"]);
        let mut browser = Browser::stranger(api);
        let answer = browser.submit("/portal", &[("token", &link), ("confirmed", "yes")], &[]);
        assert_eq!(next(&answer), "/portal/destinations");
        let cookie = answer.headers.get("set-cookie").expect("a session");
        assert!(cookie.contains("; Path=/portal; HttpOnly; SameSite=Strict"), "{cookie}");
        browser.cookie = cookie.split(';').next().unwrap().to_owned();
        Guest(browser)
    }

    pub(super) fn page(&self, path: &str) -> String {
        self.0.page(path)
    }

    fn token(&self) -> String {
        let page = self.page("/portal/destinations");
        let (_, rest) = page.split_once("name=\"form_token\" value=\"").expect("every page has a form");
        rest.split('"').next().unwrap().to_owned()
    }

    pub(super) fn change(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token();
        let mut all = fields.to_vec();
        all.push(("form_token", &token));
        self.0.submit(path, &all, &[])
    }
}

pub(super) fn tenant(gateway: &Gateway, name: &str) -> Api {
    let made = gateway.api().post("/v1/accounts", &json!({ "name": name })).data(201);
    gateway.api().with_key(&text(&made["api_key"]["key"]))
}

#[test]
fn a_link_opens_its_account_and_nothing_else() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, "ours"), tenant(&gateway, "theirs"));
    let made = |api: &Api, name: &str| {
        let id = api.destination(&sink.url("/in"), &json!({ "name": name }));
        let (_, path) = api.source();
        let event = api.send(&path, &[], format!("{{\"of\":\"{name}\"}}").as_bytes());
        api.event_once(&event, "delivered");
        (id, event)
    };
    let (our_destination, our_event) = made(&ours, "shop of ours");
    let (their_destination, their_event) = made(&theirs, "shop of theirs");
    let guest = Guest::by_link(&ours, &json!({ "return_url": "https://shop.test/back?a=b&c=d" }));
    let home = guest.page("/portal/destinations");
    assert!(home.contains("shop of ours") && home.contains(&our_destination), "{home}");
    assert!(home.contains("href=\"https://shop.test/back?a=b&#38;c=d\""), "the way back: {home}");
    let event = guest.page(&format!("/portal/events/{our_event}"));
    for part in ["responded 200", "shop of ours", "&#34;of&#34;"] {
        assert!(event.contains(part), "{part} is not in {event}");
    }
    for page in PAGES {
        let shown = guest.page(page);
        for other in ["shop of theirs", &their_destination, &their_event] {
            assert!(!shown.contains(other), "{other} is in {page}");
        }
    }
    for page in [format!("/portal/events/{their_event}"), format!("/portal/destinations/{their_destination}")]
    {
        assert_eq!(guest.0.send("GET", &page, &[], "").status, 404, "{page}");
    }
    let at = format!("/portal/destinations/{their_destination}");
    for action in ["", "/pause", "/delete", "/rotate-secret", "/test", "/routes"] {
        let fields = [("name", "mine"), ("url", "https://example.com"), ("confirmed", "yes")];
        let answer = guest.change(&format!("{at}{action}"), &fields);
        assert!([404, 200, 422].contains(&answer.status), "{action}: {answer}");
    }
    let untouched = theirs.get(&format!("/v1/destinations/{their_destination}")).data(200);
    assert_eq!((&untouched["name"], &untouched["status"]), (&json!("shop of theirs"), &json!("active")));
    assert_eq!(theirs.get("/v1/routes").data(200).as_array().unwrap().len(), 1);

    // The cookie of the portal opens no page of the dashboard, and the other way round.
    let place = next(&guest.0.send("GET", "/events", &[], ""));
    assert!(place.starts_with("/sign-in"), "{place}");
    let value = guest.0.cookie.split_once('=').unwrap().1;
    let mut forged = Browser::stranger(&ours);
    forged.cookie = format!("postrider_session={value}");
    assert!(next(&forged.send("GET", "/", &[], "")).starts_with("/sign-in"));
    assert_eq!(next(&Browser::signed_in(&ours).send("GET", PAGES[0], &[], "")), "/portal");
}

#[test]
fn a_guest_sees_and_sends_no_dead_letter_of_another_account() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, "ours"), tenant(&gateway, "theirs"));
    sink.always("/in", Reply::status(500));
    let letter = |api: &Api| {
        api.destination(&sink.url("/in"), &json!({ "retry_policy": { "max_attempts": 1 } }));
        let (_, path) = api.source();
        let event = api.send(&path, &[], b"{}");
        api.event_once(&event, "dead_letter");
        (event, text(&api.get("/v1/dead-letters").data(200)["items"][0]["delivery_id"]))
    };
    let ((our_event, our_letter), (their_event, their_letter)) = (letter(&ours), letter(&theirs));
    let guest = Guest::by_link(&ours, &json!({}));
    let shown = guest.page("/portal/dead-letters");
    assert!(shown.contains(&our_event) && shown.contains(&our_letter), "{shown}");
    assert!(!shown.contains(&their_event) && !shown.contains(&their_letter), "{shown}");
    sink.always("/in", Reply::status(200));
    let send = |letter: &str| guest.change(&format!("/portal/dead-letters/{letter}/replay"), &[]);
    assert_eq!(send(&their_letter).status, 404);
    assert_eq!(guest.change(&format!("/portal/events/{their_event}/replay"), &[]).status, 404);
    next(&send(&our_letter));
    ours.event_once(&our_event, "delivered");
    assert_eq!(text(&theirs.event(&their_event)["event"]["status"]), "dead_letter");
    assert_eq!(sink.arrivals_at("/in").len(), 3, "each once, and ours again");
}

#[test]
fn a_guest_looks_after_destinations_and_sends_again() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = tenant(&gateway, "shop");
    let guest = Guest::by_link(&api, &json!({}));
    let bad = guest.change(PAGES[0], &[("name", "my orders"), ("url", "gopher://x")]);
    let page = String::from_utf8(bad.body).unwrap();
    assert!(
        page.contains("id=\"url-problem\" role=\"alert\">url "),
        "the sentence stands beside its field: {page}"
    );
    assert!(page.contains("value=\"my orders\"") && page.contains("value=\"gopher://x\""), "{page}");
    let fields = [("name", "my orders"), ("url", &sink.url("/in"))];
    let bad = guest.change(PAGES[0], &[fields[0], fields[1], ("event_type_pattern", "or der")]);
    assert!(String::from_utf8_lossy(&bad.body).contains("event_type_pattern-problem"), "{bad}");
    assert_eq!(api.get("/v1/destinations").data(200), json!([]), "nothing is half made");

    let place = next(&guest.change(PAGES[0], &[fields[0], fields[1], ("event_type_pattern", "order.*")]));
    let id = place.rsplit('/').next().unwrap().to_owned();
    assert!(guest.page(&place).contains("<code>order.*</code>"));
    next(&guest.change(&format!("{place}/routes"), &[("event_type_pattern", "refund.*")]));
    let routes = api.get("/v1/routes").data(200);
    assert_eq!(routes.as_array().unwrap().len(), 2);
    // Its own are shown however many others the account has made before.
    let other = api.make("/v1/destinations", &json!({ "name": "other", "url": sink.url("/other") }));
    let elsewhere: Vec<String> =
        (0..101).map(|_| api.make("/v1/routes", &json!({ "destination_id": other }))).collect();
    next(&guest.change(&format!("{place}/routes"), &[]));
    assert!(guest.page(&place).contains("all events"), "a route without a pattern");
    let latest = text(&api.get(&format!("/v1/routes?destination_id={id}")).data(200)[2]["id"]);
    for route in elsewhere.iter().chain([&latest]) {
        api.delete(&format!("/v1/routes/{route}")).nothing();
    }
    api.delete(&format!("/v1/destinations/{other}")).nothing();
    let route = format!("{place}/routes/{}", text(&routes[1]["id"]));
    assert_eq!(next(&guest.change(&route, &[("confirmed", "yes")])), place);
    assert_eq!(api.get("/v1/routes").data(200).as_array().unwrap().len(), 1);

    let state = |field: &str| api.get(&format!("/v1/destinations/{id}")).data(200)[field].clone();
    next(&guest.change(&format!("{place}/pause"), &[]));
    assert_eq!(state("status"), "paused");
    next(&guest.change(&format!("{place}/resume"), &[]));
    next(&guest.change(&place, &[("name", "renamed"), fields[1]]));
    assert_eq!((state("name"), state("status")), (json!("renamed"), json!("active")));
    let tried = guest.0.shown_once(&guest.change(&format!("{place}/test"), &[]));
    assert!(tried.contains("Test event: responded 200"), "{tried}");

    let (_, path) = api.source();
    api.patch(&format!("/v1/destinations/{id}"), &json!({ "retry_policy": { "max_attempts": 1 } })).data(200);
    sink.always("/in", Reply::status(500));
    let event = api.send(&path, &[("x-event-type", "order.paid")], b"{}");
    api.event_once(&event, "dead_letter");
    let letters = guest.page("/portal/dead-letters");
    assert!(letters.contains(&event), "{letters}");
    sink.always("/in", Reply::status(200));
    let (_, rest) = letters.split_once("action=\"/portal/dead-letters/").expect("a way to send it again");
    next(&guest.change(&format!("/portal/dead-letters/{}", rest.split('"').next().unwrap()), &[]));
    api.event_once(&event, "delivered");
    let again = next(&guest.change(&format!("/portal/events/{event}/replay"), &[]));
    assert_ne!(again, format!("/portal/events/{event}"));
    guest.page(&again);
    let asked = guest.change(&format!("{place}/delete"), &[]);
    assert!(String::from_utf8_lossy(&asked.body).contains("Delete renamed?"), "{asked}");
    guest.page(&place);
    next(&guest.change(&format!("{place}/delete"), &[("confirmed", "yes")]));
    assert_eq!(guest.0.send("GET", &place, &[], "").status, 404);
}

#[test]
fn what_a_guest_cannot_undo_is_asked_first() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = tenant(&gateway, "ours");
    let guest = Guest::by_link(&api, &json!({}));
    let id = api.destination(&sink.url("/in"), &json!({ "name": "mine" }));
    let pattern = json!({ "destination_id": id, "event_type_pattern": "refund.*" });
    let route = api.make("/v1/routes", &pattern);
    let place = format!("/portal/destinations/{id}");
    let left = || api.get("/v1/routes").data(200).as_array().unwrap().len();
    let asks = |page: &str, question: &str| {
        let asked = guest.change(page, &[]);
        assert_eq!(asked.status, 200, "{asked}");
        assert!(String::from_utf8_lossy(&asked.body).contains(question), "{question} is not in {asked}");
    };
    let route = format!("{place}/routes/{route}");
    asks(&route, "Remove the subscription to events of type refund.*?");
    assert_eq!(left(), 2, "it only asked");
    assert_eq!(next(&guest.change(&route, &[("confirmed", "yes")])), place);
    assert_eq!(left(), 1);
    assert_eq!(guest.change(&route, &[]).status, 404);

    let secret = format!("{place}/rotate-secret");
    asks(&secret, "Rotate the signing secret of mine?");
    let rotated = guest.change(&secret, &[("confirmed", "yes")]);
    assert!(guest.0.shown_once(&rotated).contains("whsec_"), "{rotated}");
    assert!(!guest.page(&place).contains("whsec_"), "it is shown once");
    let log = api.get(&format!("/v1/audit?object_id={id}")).data(200)["items"].to_string();
    assert_eq!(log.matches("/rotate-secret\"").count(), 1, "made when it was agreed to: {log}");
}

#[test]
fn a_brand_is_worn_and_none_of_it_runs() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = tenant(&gateway, "shop");
    let brand = json!({
        "company_name": HOSTILE, "docs_title": HOSTILE, "primary_color": "#FFE000",
        "logo_url": "https://evil.test/logo.svg", "support_email": "help@shop.test",
    });
    api.post("/v1/brand-settings", &brand).data(200);
    sink.always("/in", Reply::status(500).body(HOSTILE.as_bytes()));
    let id =
        api.destination(&sink.url("/in"), &json!({ "name": HOSTILE, "retry_policy": { "max_attempts": 1 } }));
    let (_, path) = api.source();
    let event = api.send(&path, &[], format!("{HOSTILE}\u{1b}[31m").as_bytes());
    api.event_once(&event, "dead_letter");
    let guest = Guest::by_link(&api, &json!({}));
    let own = [format!("/portal/events/{event}"), format!("/portal/destinations/{id}")];
    for page in
        PAGES.into_iter().chain(own.iter().map(String::as_str)).chain(["/portal", "/portal/events/evt_0"])
    {
        let answer = guest.0.send("GET", page, &[], "");
        let policy = answer.headers.get("content-security-policy").expect("a policy").to_owned();
        assert!(policy.contains("img-src 'self';") && !policy.contains("unsafe"), "{page}: {policy}");
        assert_eq!(answer.headers.get("cache-control"), Some("no-store"), "{page}");
        assert!(answer.body.len() < 100_000, "{page} has {} bytes", answer.body.len());
        let shown = String::from_utf8(answer.body).unwrap();
        assert!(!shown.contains("alert(1)</script>") && !shown.contains("<svg onload"), "{page}: {shown}");
        assert!(!shown.contains("evil.test"), "nothing is loaded from elsewhere: {page}");
        assert!(!shown.contains(" style=") && !shown.contains(" onclick="), "{page} would be blocked");
    }
    let home = guest.page(PAGES[0]);
    assert!(home.contains("&#60;script&#62;alert(1)") && home.contains("help@shop.test"), "{home}");
    assert_eq!(guest.page("/portal/brand.css"), ":root { --brand: #ffe000; --brand-ink: #000; }\n");
    assert_eq!(guest.0.send("GET", "/portal/logo", &[], "").status, 404, "one of another host is not shown");

    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    let logo = format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg));
    api.post("/v1/brand-settings", &json!({ "logo_url": logo })).data(200);
    assert!(guest.page(PAGES[0]).contains("<img class=\"logo\" src=\"/portal/logo\" alt=\"\">"));
    let picture = guest.0.send("GET", "/portal/logo", &[], "");
    assert_eq!((picture.status, picture.body.as_slice()), (200, svg.as_slice()));
    assert_eq!(picture.headers.get("content-type"), Some("image/svg+xml"));
    assert_eq!(picture.headers.get("x-content-type-options"), Some("nosniff"));
    let policy = picture.headers.get("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none';") && policy.ends_with("; sandbox"), "{policy}");
    assert_eq!(next(&Browser::stranger(&api).send("GET", "/portal/logo", &[], "")), "/portal");
}

#[test]
fn a_link_that_is_over_opens_nothing_and_no_other_site_uses_one() {
    let site = Site::new();
    let gateway = site.start();
    let api = tenant(&gateway, "shop");
    let stranger = Browser::stranger(&api);
    assert!(stranger.page("/portal").contains("/assets/portal.js"));
    for page in PAGES {
        assert_eq!(next(&stranger.send("GET", page, &[], "")), "/portal");
    }
    for wrong in ["", "hk_wrong", "https://a.test/portal#token=", &"x".repeat(10_000)] {
        let answer = stranger.submit("/portal", &[("token", wrong)], &[]);
        assert_eq!(answer.status, 401, "{answer}");
        assert!(answer.headers.get("set-cookie").unwrap().contains("Max-Age=0"), "{answer}");
    }
    let guest = Guest::by_link(&api, &json!({}));
    let token = guest.token();
    let make = |token: &str, headers: &[(&str, &str)]| {
        let fields = [("name", "made"), ("url", "https://example.com"), ("form_token", token)];
        guest.0.submit(PAGES[0], &fields, headers).status
    };
    assert_eq!(make("", &[]), 403);
    assert_eq!(make(&token[1..], &[]), 403);
    assert_eq!(make(&token, &[("origin", "https://evil.test")]), 403);
    assert_eq!(make(&token, &[]), 303);
    assert_eq!(guest.0.submit("/portal", &[("token", "x")], &[("origin", "https://evil.test")]).status, 403);

    let sessions = api.get("/v1/api-keys").data(200);
    let session = sessions.as_array().unwrap().iter().find(|key| key["scope"] == "portal").unwrap();
    api.delete(&format!("/v1/api-keys/{}", text(&session["id"]))).nothing();
    for page in PAGES {
        let answer = guest.0.send("GET", page, &[], "");
        assert_eq!(answer.status, 401, "{page}");
        assert!(String::from_utf8_lossy(&answer.body).contains("This link has expired"), "{answer}");
    }
}

#[test]
fn a_guest_who_creates_a_destination_is_shown_its_secret_once() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let guest = Guest::by_link(&gateway.api(), &json!({}));
    let fields = [("name", "mine"), ("url", &*sink.url("/in"))];
    let made = guest.change("/portal/destinations", &fields);
    let shown = guest.0.shown_once(&made);
    assert!(shown.contains("New signing secret, shown only once: <code>whsec_"), "{shown}");
    assert!(!guest.page(&next(&made)).contains("whsec_"));
    let again = String::from_utf8(guest.change("/portal/destinations", &fields).body).unwrap();
    assert!(again.contains("A destination with this name already exists"), "{again}");
}
