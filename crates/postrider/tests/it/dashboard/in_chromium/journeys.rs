//! The ways that people take, by what they see and press.

use super::{signed_in, was_quiet};
use crate::rig::{Reply, Sink, Site};
use serde_json::json;

#[test]
fn a_newcomer_gets_to_a_first_delivery_and_its_timeline() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let mut tab = signed_in(&api);
    tab.read("Send your first event");
    tab.press("Create a destination");
    tab.arrive("/destinations");
    tab.fill("input[name=name]", "mine");
    tab.fill("input[name=url]", &sink.url("/in"));
    tab.press("Create destination");
    tab.arrive("/destinations/dst_");
    tab.press("Send test event");
    tab.read("Test event: responded 200");
    tab.press("Sources");
    tab.arrive("/sources");
    let url = tab.value(
        "[...document.querySelectorAll('code')].find(code => code.innerText.includes('/ingest/')).innerText",
    );
    let path = url.as_str().and_then(|url| url.find("/ingest/").map(|at| url[at..].to_owned()));
    let id = api.send(&path.expect("a URL to post to"), &[("x-event-type", "order.created")], b"{\"n\":1}");
    tab.press("Events");
    tab.arrive("/events");
    tab.read("order.created");
    tab.press(&id);
    tab.arrive("/events/");
    // By itself, without a reload.
    tab.read("delivered");
    tab.wait("/Attempt 1 .*responded 200/.test(document.body.innerText)");
    tab.value("document.querySelector('.timeline summary').click()");
    tab.read("webhook-signature");
    tab.read("\"n\": 1");
    assert_eq!(sink.wait_for("/in", 2)[1].body, b"{\"n\":1}");
    was_quiet(&mut tab, &api, &[]);
}

#[test]
fn a_failing_destination_is_seen_mended_and_gets_what_it_missed() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500));
    let (_, path) = api.source();
    let settings = json!({
        "name": "ledger", "retry_policy": { "max_attempts": 1 }, "circuit": { "threshold": 3, "cooldown_seconds": 600 },
    });
    let destination = api.destination(&sink.url("/in"), &settings);
    let ids: Vec<String> =
        (0..3).map(|n| api.send(&path, &[], format!("{{\"n\":{n}}}").as_bytes())).collect();
    ids.iter().for_each(|id| drop(api.event_once(id, "dead_letter")));
    let mut tab = signed_in(&api);
    tab.press("Destinations");
    tab.press("ledger");
    tab.arrive("/destinations/dst_");
    // Its breaker has opened.
    tab.read("Close circuit");
    api.send(&path, &[], b"{\"n\":3}");
    // What waits is seen without a reload.
    tab.wait(
        "[...document.querySelectorAll('.tiles div')].some(tile => /Pending\\s+1/.test(tile.innerText))",
    );
    tab.press("Overview");
    tab.read("The circuit of \"ledger\"");
    // Of this finding: on a busy machine there may be others.
    tab.wait(
        "[...document.querySelectorAll('.findings li')].some(found =>
            found.innerText.includes('The circuit of') && (found.querySelector('summary').click(), true))",
    );
    tab.read("postrider destinations circuit");
    tab.go(&format!("/destinations/{destination}"));
    sink.always("/in", Reply::status(200));
    tab.press("Close circuit");
    tab.read("Open circuit");
    sink.wait_for("/in", 4);
    tab.press("View dead letters");
    tab.arrive("/dead-letters");
    tab.press("Replay all matching…");
    tab.read("Replay 3 dead letters?");
    tab.press("Replay 3 dead letters");
    tab.arrive("/replays/");
    tab.wait("document.querySelector('progress')?.value === 1");
    tab.read("3 of 3 replayed");
    ids.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    tab.go(&format!("/dead-letters?destination_id={destination}"));
    tab.read("No dead letters.");
    was_quiet(&mut tab, &api, &[]);
}

#[test]
fn the_live_tail_shows_what_happens_and_can_be_paused() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "name": "ledger" }));
    let mut tab = signed_in(&api);
    tab.press("Events");
    tab.press("Live tail");
    tab.arrive("/tail");
    tab.read("Watching.");
    let hostile = "{\"html\":\"<img src=x onerror=alert(1)>\"}";
    let first = api.send(&path, &[("x-event-type", "order.created")], hostile.as_bytes());
    tab.read(&first);
    tab.read("responded 200");
    tab.press("Pause");
    let second = api.send(&path, &[("x-event-type", "order.paid")], b"{}");
    api.event_once(&second, "delivered");
    // Accepted, and attempted.
    tab.read("Paused; 2 more since then.");
    assert_eq!(tab.value(&format!("document.body.innerText.includes('{second}')")), false);
    tab.press("Resume");
    tab.read(&second);
    // What was not asked for does not come.
    tab.go("/tail?event_type=order.created&kind=accepted");
    tab.read("Watching.");
    api.send(&path, &[("x-event-type", "order.paid")], b"{}");
    let wanted = api.send(&path, &[("x-event-type", "order.created")], b"{}");
    tab.read(&wanted);
    assert_eq!(tab.value("document.querySelectorAll('#tail tbody tr').length"), 1);
    was_quiet(&mut tab, &api, &[]);
}
