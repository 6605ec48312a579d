//! Pages change by themselves, over one stream, and only while somebody sees them.

use super::{signed_in, was_quiet};
use crate::dashboard::browser::Browser;
use crate::rig::chromium::Tab;
use crate::rig::{Api, Reply, Sink, Site};
use serde_json::json;

/// A destination that is sent nothing, so that what it is owed only grows, and where to send events for it.
fn waiting_room(api: &Api) -> String {
    let (_, path) = api.source();
    let id = api.destination("http://127.0.0.1:9/", &json!({ "name": "ledger" }));
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    format!("{path} /destinations/{id}")
}

fn shows_waiting(tab: &mut Tab, count: usize) {
    let tile = format!("/Pending\\s+{count}\\b/.test(tile.innerText)");
    tab.wait(&format!("[...document.querySelectorAll('.tiles div')].some(tile => {tile})"));
}

/// How often a page was asked for, in whatever form.
fn asked(tab: &mut Tab, page: &str) -> usize {
    tab.watched().requests.iter().filter(|url| url.ends_with(page)).count()
}

#[test]
fn a_page_changes_without_a_reload_and_asks_for_nothing_more() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let room = waiting_room(&api);
    let (path, page) = room.split_once(' ').expect("two of them");
    let mut tab = signed_in(&api);
    tab.go(page);
    tab.value("void (window.stayed = true)");
    // At most one change a second is sent, so this takes longer than any timer that pages have had.
    for count in 1..=4 {
        api.send(path, &[], b"{}");
        shows_waiting(&mut tab, count);
    }
    assert_eq!(tab.value("window.stayed"), true);
    assert_eq!(asked(&mut tab, page), 2, "the page, and its stream: {:?}", tab.watched().requests);
    was_quiet(&mut tab, &api, &[]);
}

#[test]
fn what_somebody_is_at_stays_until_they_leave_it() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let room = waiting_room(&api);
    let (path, page) = room.split_once(' ').expect("two of them");
    let mut tab = signed_in(&api);
    tab.go(page);
    shows_waiting(&mut tab, 0);
    tab.value("void getSelection().selectAllChildren(document.querySelector('h1'))");
    api.send(path, &[], b"{}");
    // It has come, and waits.
    tab.wait("late.has('live-destination')");
    shows_waiting(&mut tab, 0);
    tab.value("getSelection().removeAllRanges()");
    shows_waiting(&mut tab, 1);
    was_quiet(&mut tab, &api, &[]);
}

#[test]
fn a_page_that_nobody_sees_is_not_followed() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let room = waiting_room(&api);
    let (path, page) = room.split_once(' ').expect("two of them");
    let mut tab = signed_in(&api);
    tab.go(page);
    tab.wait("followed?.readyState === EventSource.OPEN");
    let hide = |tab: &mut Tab, hidden: bool| {
        tab.value(&format!(
            "void Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }})"
        ));
        tab.value("document.dispatchEvent(new Event('visibilitychange'))");
    };
    hide(&mut tab, true);
    assert_eq!(tab.value("followed === undefined"), true);
    api.send(path, &[], b"{}");
    hide(&mut tab, false);
    shows_waiting(&mut tab, 1);
    assert_eq!(asked(&mut tab, page), 3, "{:?}", tab.watched().requests);
    was_quiet(&mut tab, &api, &[]);
}

#[test]
fn dead_letters_come_by_themselves_and_take_no_selection_away() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500));
    api.destination(&sink.url("/in"), &json!({ "name": "ledger", "retry_policy": { "max_attempts": 1 } }));
    let (_, path) = api.source();
    let died = || {
        let event = api.send(&path, &[], b"{}");
        api.event_once(&event, "dead_letter");
        event
    };
    let mut tab = signed_in(&api);
    tab.go("/dead-letters");
    tab.read("No dead letters.");
    let first = died();
    tab.read(&first);
    tab.read("By destination and reason");
    let tick = |tab: &mut Tab| drop(tab.value("document.querySelector('[name=delivery_ids]').click()"));
    tick(&mut tab);
    let second = died();
    // It has come, and waits; how many there are is told all the same.
    tab.wait(
        "late.has('live-letters') && document.querySelector('#live-groups .number a').innerText === '2'",
    );
    assert_eq!(tab.value("document.querySelectorAll('[name=delivery_ids]:checked').length"), 1);
    assert_eq!(tab.value(&format!("document.body.innerText.includes({})", json!(second))), false);
    tick(&mut tab);
    tab.read(&second);
    tab.go("/audit");
    let source = api.make("/v1/sources", &json!({ "name": "made meanwhile" }));
    tab.read(&source);
    was_quiet(&mut tab, &api, &[]);
}

#[test]
fn a_page_that_finds_no_room_to_be_followed_says_so() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let mut streams: Vec<_> = (0..64).map(|_| browser.follow("/replays")).collect();
    streams.iter_mut().for_each(|stream| drop(stream.next()));
    let mut tab = signed_in(&api);
    tab.go("/replays");
    tab.read("Too many pages are open with live updates");
    // As when there is room at a later try.
    tab.value("void followed.dispatchEvent(new MessageEvent('changed', { data: '{}' }))");
    assert_eq!(tab.value("document.getElementById('stale') === null"), true);
    was_quiet(&mut tab, &api, &[]);
}
