//! Characters that nobody sees and that change how the rest is read: pages show them, and forms keep them.

use super::browser::Browser;
use super::guard::PAGES;
use super::portal::Guest;
use crate::rig::{Reply, Sink, Site};
use serde_json::json;

/// A name that reads as another, and an escape sequence.
const NAME: &str = "pay\u{202e}fdp.\u{2066}\u{200f}";
const BODY: &str = "{\"note\":\"a\u{202e}b\u{1b}[31mc\u{61c}\"}";

fn check(place: &str, page: &str) {
    let unseen = |character: char| {
        (character.is_control() && !"\n\r\t".contains(character))
            || "\u{61c}\u{200e}\u{200f}\u{feff}".contains(character)
            || ('\u{2028}'..='\u{202e}').contains(&character)
            || ('\u{2060}'..='\u{206f}').contains(&character)
    };
    let found: Vec<_> =
        page.match_indices(unseen).map(|(at, _)| page[at..].chars().take(30).collect::<String>()).collect();
    assert!(found.is_empty(), "{place}: {found:?}");
}

#[test]
fn what_would_not_be_seen_is_shown_on_every_page_and_kept_by_forms() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500).body("no\u{202e}\u{9b}31m".as_bytes()));
    let settings = json!({ "name": NAME, "retry_policy": { "max_attempts": 1 } });
    let destination = api.destination(&sink.url("/in"), &settings);
    let source = api.make("/v1/sources", &json!({ "name": NAME }));
    api.post("/v1/api-keys", &json!({ "name": NAME })).data(201);
    let account = api.post("/v1/accounts", &json!({ "name": NAME })).data(201)["account"]["id"].clone();
    let (_, path) = api.source();
    let event =
        api.send(&path, &[("content-type", "text/plain"), ("x-unseen", "h\u{202e}i")], BODY.as_bytes());
    api.event_once(&event, "dead_letter");

    let browser = Browser::signed_in(&api);
    let own = [
        format!("/events/{event}"),
        format!("/destinations/{destination}"),
        format!("/sources/{source}"),
        format!("/accounts/{}", account.as_str().unwrap()),
    ];
    for page in PAGES.into_iter().chain(own.iter().map(String::as_str)) {
        check(page, &browser.page(page));
    }
    let tried = browser.change("/routes/test", &[("payload", BODY), ("headers", "x-a: \u{202e}")]);
    check("/routes/test", &String::from_utf8(tried.body).unwrap());
    let shown = browser.page(&own[0]);
    for part in [
        "a\\u{202e}b",
        "--data-raw $&#39;{",
        "a\\xe2\\x80\\xaeb\\x1b[31mc\\xd8\\x9c",
        "no\\u{202e}\\u{9b}31m",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(browser.page("/destinations").contains("pay\\u{202e}fdp.\\u{2066}\\u{200f}"));
    let form = browser.page(&own[2]);
    assert!(
        form.contains("value=\"pay&#x202e;fdp.&#x2066;&#x200f;\""),
        "a form keeps what it changes: {form}"
    );
    let raw = browser.send("GET", &format!("/events/{event}/body"), &[], "");
    assert_eq!(raw.body, BODY.as_bytes(), "a download is what came");

    let guest = Guest::by_link(&api, &json!({}));
    for page in ["destinations", "events", "dead-letters"].map(|list| format!("/portal/{list}")) {
        check(&page, &guest.page(&page));
    }
    check("the event in the portal", &guest.page(&format!("/portal/events/{event}")));
}
