//! Every page, in light, in dark and on a phone, with hostile text wherever there can be text: nothing of it runs, and
//! everybody can read and use what there is. The pictures are for people to look at.

use super::{signed_in, was_quiet};
use crate::rig::chromium::{Size, Tab};
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Would run if it were not shown as text.
pub(super) const HOSTILE: &str =
    "<script>alert(1)</script><svg onload=alert(2)>\u{2028}\u{1b}[31m\"'&<img src=x onerror=alert(3)>";
/// The same where text has to fit into a line: a name or the value of a header, which take no control characters.
pub(super) const HOSTILE_LINE: &str = "<script>alert(4)</script><svg onload=alert(5)>\u{2028}\"'&";

/// The same as the type of an event, which has no blanks and no empty words between its dots.
const HOSTILE_TYPE: &str = "<svg/onload=alert(6)>.<script>alert(7)</script>";

/// More controls than any page has.
const KEYS_MAX: usize = 200;

/// What a page shuts somebody out by.
pub(super) fn faults(tab: &mut Tab) -> Vec<String> {
    serde_json::from_value(tab.value(include_str!("checks.js"))).expect("sentences")
}

/// What somebody with a keyboard alone runs into.
pub(super) fn keyboard(tab: &mut Tab) -> Vec<String> {
    // A part that is sent anew has elements that no key has come to.
    tab.value("void (typeof followed === 'undefined' || (followed?.close(), late.clear()))");
    // From the beginning, wherever the page has put it.
    tab.value(
        "void (document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex'), window.keyboardSaw = undefined)",
    );
    let mut faults = Vec::new();
    for _ in 0..KEYS_MAX {
        tab.tab_key();
        let mut step = tab.value(include_str!("focus.js"));
        let found = step["faults"].take();
        faults.extend(serde_json::from_value::<Vec<String>>(found).expect("sentences"));
        if step["over"] == true {
            return faults;
        }
    }
    faults.push(format!("after {KEYS_MAX} keys it goes on"));
    faults
}

#[test]
fn every_page_can_be_read_and_used_by_everybody_and_runs_nothing() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let pages = fill(&api, &sink);
    let mut tab = signed_in(&api);
    watch_the_tail(&mut tab, &api);
    let mut found: Vec<String> =
        pages.iter().flat_map(|(name, path)| look_at(&mut tab, name, path)).collect();
    // As the operator has them who looks at another account, by the way that is on its page.
    let (_, account) = pages.iter().find(|(name, _)| *name == "account").expect("it is among them");
    tab.go(account);
    tab.press("View its data");
    tab.read("Viewing account");
    found.extend(look_at(&mut tab, "looking", "/destinations"));
    assert!(found.is_empty(), "{found:#?}");
    was_quiet(&mut tab, &api, &[]);
}

/// What comes in while somebody watches is put into the page by its script: as text, too.
fn watch_the_tail(tab: &mut Tab, api: &Api) {
    let (_, path) = api.source();
    tab.go("/tail");
    tab.read("Watching.");
    let headers = [("x-event-type", HOSTILE_TYPE), ("x-hostile", HOSTILE_LINE)];
    let event = api.send(&path, &headers, HOSTILE.as_bytes());
    tab.read(&event);
    tab.read(HOSTILE_TYPE);
    tab.read("dead letter");
    let names = "[...document.querySelectorAll('#tail tbody a')].map(link => link.textContent)";
    // Its beginning, with what would not be seen shown by its number.
    let (before, _) = HOSTILE_LINE.split_once('\u{2028}').expect("it is in the name");
    let shown = format!("{before}\\u{{2028}}");
    tab.wait(&format!("{names}.some(name => name.startsWith({}))", json!(shown)));
    assert_eq!(tab.value("document.querySelectorAll('#tail script, #tail svg, #tail img').length"), 0);
}

/// What is wrong with a page in light, in dark, on a phone and by keyboard. Its pictures are put beside those of others.
pub(crate) fn look_at(tab: &mut Tab, name: &str, path: &str) -> Vec<String> {
    tab.go(path);
    look_at_this(tab, name, path)
}

/// The same of the page that the tab is at, however it came there.
pub(super) fn look_at_this(tab: &mut Tab, name: &str, path: &str) -> Vec<String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
    std::fs::create_dir_all(&directory).expect("the directory of tests is ours");
    let picture = |look: &str| -> PathBuf { directory.join(format!("{name}-{look}.png")) };
    let mut found = Vec::new();
    let mut note = |look: &str, faults: Vec<String>| {
        found.extend(faults.iter().map(|fault| format!("{path} in {look}: {fault}")));
    };
    tab.resize(Size::Desk);
    tab.colours("light");
    tab.picture(&picture("light"));
    tab.value("document.querySelectorAll('details').forEach(found => found.open = true)");
    note("light", faults(tab));
    tab.colours("dark");
    tab.picture(&picture("dark"));
    note("dark", faults(tab));
    tab.resize(Size::Phone);
    note("phone", faults(tab));
    tab.picture(&picture("phone"));
    note("keyboard", keyboard(tab));
    found
}

/// Has a source refuse a body for a reason that quotes it.
fn refuse(api: &Api, source: &str) {
    let strict = json!({ "event_type": "strict", "schema": { "additionalProperties": false } });
    api.make("/v1/event-types", &strict);
    let known = api.get(&format!("/v1/sources/{source}")).data(200);
    let path = format!("/ingest/{}", known["path_token"].as_str().unwrap_or_default());
    let body = json!({ HOSTILE: 1 }).to_string();
    // As GitHub names the type.
    api.call("POST", &path, &[("x-github-event", "strict")], body.as_bytes()).refusal(422);
}

/// A gateway with some of everything; gives every page with a name for its picture.
fn fill(api: &Api, sink: &Sink) -> Vec<(&'static str, String)> {
    let (_, path) = api.source();
    let source = api.make("/v1/sources", &json!({ "name": HOSTILE_LINE, "provider": "github" }));
    let key = api.make("/v1/api-keys", &json!({ "name": HOSTILE_LINE, "scope": "read" }));
    let hostile = Reply::status(500).header("x-answer", HOSTILE_LINE).body(HOSTILE.as_bytes());
    sink.always("/bad", hostile);
    sink.always("/good", Reply::status(200));
    let policy = json!({ "name": HOSTILE_LINE, "retry_policy": { "max_attempts": 1 } });
    let bad = api.destination(&sink.url("/bad"), &policy);
    api.destination(&sink.url("/good"), &json!({ "name": "ledger" }));
    let route = json!({ "destination_id": bad, "filter": "payload.html == \"<script>\"" });
    let route = api.make("/v1/routes", &route);
    let made = api.post("/v1/accounts", &json!({ "name": HOSTILE_LINE })).data(201);
    let account = made["account"]["id"].as_str().unwrap_or_default().to_owned();
    refuse(api, &source);
    let headers =
        [("x-event-type", HOSTILE_TYPE), ("x-hostile", HOSTILE_LINE), ("idempotency-key", HOSTILE_TYPE)];
    let event = api.send(&path, &headers, json!({ "html": HOSTILE, "n": 1 }).to_string().as_bytes());
    let raw = api.send(&path, &[], HOSTILE.as_bytes());
    for id in [&event, &raw] {
        api.event_once(id, "dead_letter");
    }
    let job = api.post("/v1/replays", &json!({})).data(202)["id"].as_str().unwrap_or_default().to_owned();
    let at = format!("/v1/replays/{job}");
    wait_until("the replay is over", || (api.get(&at).data(200)["state"] == "done").then_some(()));
    api.event_once(&event, "dead_letter");
    [
        ("overview", "/".to_owned()),
        ("events", "/events".to_owned()),
        ("events-found", "/events?text=%3Cscript%3E&status=dead_letter".to_owned()),
        ("events-refused", "/events?since=%3Cscript%3E".to_owned()),
        ("tail", "/tail".to_owned()),
        ("deliveries", "/deliveries".to_owned()),
        ("event", format!("/events/{event}")),
        ("event-raw", format!("/events/{raw}")),
        ("destinations", "/destinations".to_owned()),
        ("destination", format!("/destinations/{bad}")),
        ("dead-letters", "/dead-letters".to_owned()),
        ("replays", "/replays".to_owned()),
        ("replay", format!("/replays/{job}")),
        ("sources", "/sources".to_owned()),
        ("source", format!("/sources/{source}")),
        ("routes", "/routes".to_owned()),
        ("route", format!("/routes/{route}")),
        ("route-test", "/routes/test".to_owned()),
        ("keys", "/keys".to_owned()),
        ("key", format!("/keys/{key}")),
        ("accounts", "/accounts".to_owned()),
        ("account", format!("/accounts/{account}")),
        ("cluster", "/cluster".to_owned()),
        ("settings", "/settings".to_owned()),
        ("audit", "/audit".to_owned()),
        ("nothing", "/events/evt_0".to_owned()),
        ("sign-in", "/sign-in".to_owned()),
    ]
    .into()
}
