//! The pages that are seen only after a form was sent: they can be read and used by everybody too, and run nothing.

use super::every_page::{HOSTILE, HOSTILE_LINE, look_at_this};
use super::{signed_in, was_quiet};
use crate::rig::api::text;
use crate::rig::chromium::Tab;
use crate::rig::{Api, Reply, Sink, Site};
use serde_json::{Value, json};

/// Sends a form of the page that the tab is at, without being asked in a box, and waits for what answers it.
fn send(tab: &mut Tab, page: &str, fields: &Value, answer: &str) {
    tab.value(&format!(
        "void ((page, fields) => {{
            const token = document.querySelector('[name=form_token]').value;
            const form = Object.assign(document.createElement('form'), {{ method: 'post', action: page }});
            for (const [name, value] of Object.entries({{ ...fields, form_token: token }}))
                form.append(Object.assign(document.createElement('input'), {{ type: 'hidden', name, value }}));
            document.body.append(form);
            document.isLeft = true;
            form.submit();
        }})({}, {fields})",
        json!(page)
    ));
    tab.stand();
    tab.read(answer);
}

/// From a page to what answers its form, each with a name for its picture and words that it has.
fn look_at_answers(tab: &mut Tab, answers: &[(&str, String, String, Value, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, from, page, fields, answer) in answers {
        tab.go(from);
        send(tab, page, fields, answer);
        found.extend(look_at_this(tab, name, page));
    }
    found
}

/// A destination whose events are given up on, and one of them.
fn dead_letter(api: &Api, sink: &Sink) -> (String, String) {
    sink.always("/bad", Reply::status(500).header("x-answer", HOSTILE_LINE).body(HOSTILE.as_bytes()));
    let policy = json!({ "name": HOSTILE_LINE, "retry_policy": { "max_attempts": 1 } });
    let destination = api.destination(&sink.url("/bad"), &policy);
    let (_, path) = api.source();
    let event = api.send(&path, &[("x-hostile", HOSTILE_LINE)], HOSTILE.as_bytes());
    api.event_once(&event, "dead_letter");
    (destination, event)
}

#[test]
fn what_asks_can_be_read_and_used_by_everybody_and_runs_nothing() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (destination, _) = dead_letter(&api, &sink);
    let secret =
        json!({ "name": HOSTILE_LINE, "provider": "github", "verification_config": { "secret": "x" } });
    let source = format!("/sources/{}", api.make("/v1/sources", &secret));
    let made = api.post("/v1/accounts", &json!({ "name": HOSTILE_LINE })).data(201);
    let account = format!("/accounts/{}", text(&made["account"]["id"]));
    let to = format!("/destinations/{destination}");
    let letters = || "/dead-letters".to_owned();
    let those = json!({ "destination_id": destination });
    let answers = [
        ("ask-delete", to.clone(), format!("{to}/delete"), json!({}), "Cancel"),
        ("ask-secret", to.clone(), format!("{to}/rotate-secret"), json!({}), "Cancel"),
        ("ask-unsigned", source.clone(), format!("{source}/unsigned"), json!({}), "Cancel"),
        ("many-replay", letters(), "/replays".to_owned(), those.clone(), "Replay 1 dead letter?"),
        ("many-discard", letters(), "/dead-letters/discard".to_owned(), those, "Discard 1 dead letter?"),
        ("account-delete", account.clone(), format!("{account}/delete"), json!({}), "Cancel"),
    ];
    check(&api, &answers);
}

#[test]
fn what_is_shown_once_can_be_read_and_used_by_everybody_and_runs_nothing() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (destination, event) = dead_letter(&api, &sink);
    let made = api.post("/v1/accounts", &json!({ "name": HOSTILE_LINE })).data(201);
    let account = format!("/accounts/{}", text(&made["account"]["id"]));
    let (to, event) = (format!("/destinations/{destination}"), format!("/events/{event}"));
    let (agreed, named) = (json!({ "confirmed": "yes" }), json!({ "name": HOSTILE_LINE, "scope": "read" }));
    let sample = json!({ "payload": HOSTILE, "event_type": "order.paid" });
    let elsewhere = json!({ "url": sink.url("/bad") });
    let wrong = json!({ "name": HOSTILE_LINE, "scope": HOSTILE });
    let same = |page: &str| (page.to_owned(), page.to_owned());
    let (tester, keys, accounts) = (same("/routes/test"), same("/keys"), same("/accounts"));
    let answers = [
        ("route-test-verdict", tester.0, tester.1, sample, "Request"),
        ("event-elsewhere", event.clone(), format!("{event}/send"), elsewhere, "Sent to another URL"),
        ("destination-tried", to.clone(), format!("{to}/test"), json!({}), "Test event:"),
        ("destination-secret", to.clone(), format!("{to}/rotate-secret"), agreed, "shown only once"),
        ("key-made", keys.0.clone(), keys.1.clone(), named.clone(), "shown only once"),
        ("account-made", accounts.0, accounts.1, json!({ "name": HOSTILE_LINE }), "shown only once"),
        ("link-made", account.clone(), format!("{account}/portal"), json!({}), "/portal#token="),
        ("refused", keys.0, keys.1, wrong, "scope"),
    ];
    check(&api, &answers);
}

fn check(api: &Api, answers: &[(&str, String, String, Value, &str)]) {
    let mut tab = signed_in(api);
    let found = look_at_answers(&mut tab, answers);
    assert!(found.is_empty(), "{found:#?}");
    was_quiet(&mut tab, api, &[]);
}

#[test]
fn what_the_portal_asks_can_be_read_and_used_by_everybody_and_runs_nothing() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let made = gateway.api().post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let api = gateway.api().with_key(&text(&made["api_key"]["key"]));
    let (destination, _) = dead_letter(&api, &sink);
    let route = text(&api.get("/v1/routes").data(200)[0]["id"]);
    let link = text(&api.post("/v1/portal-sessions", &json!({})).data(201)["url"]);
    let origin = format!("http://{}", api.address);
    let mut tab = Tab::open(&origin);
    tab.go(link.strip_prefix(&origin).expect("the link leads here"));
    tab.press("Open the portal");
    tab.arrive("/portal/destinations");
    let to = format!("/portal/destinations/{destination}");
    let answers = [
        ("portal-ask-delete", to.clone(), format!("{to}/delete"), json!({}), "Cancel"),
        ("portal-ask-route", to.clone(), format!("{to}/routes/{route}"), json!({}), "Cancel"),
        (
            "portal-secret",
            to.clone(),
            format!("{to}/rotate-secret"),
            json!({ "confirmed": "yes" }),
            "shown only once",
        ),
    ];
    let found = look_at_answers(&mut tab, &answers);
    assert!(found.is_empty(), "{found:#?}");
    was_quiet(&mut tab, &api, &[]);
}
