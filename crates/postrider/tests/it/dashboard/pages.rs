//! The ways through the pages that people take.

use super::browser::{Browser, next};
use super::guard::PAGES;
use crate::rig::{Reply, Sink, Site, wait_until};
use serde_json::json;

/// Would run if it were not shown as text.
const HOSTILE: &str = "<script>alert(1)</script><svg onload=alert(2)>\u{2028}\u{1b}[31m\"'&";

#[test]
fn a_newcomer_gets_from_an_empty_start_to_a_first_delivery() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let home = browser.page("/");
    assert!(home.contains("Send your first event"), "{home}");

    let bad = browser.change("/destinations", &[("name", "mine"), ("url", "gopher://x")]);
    let text = String::from_utf8(bad.body).unwrap();
    assert!(text.contains("id=\"url-problem\" role=\"alert\">url "), "{text}");
    assert!(
        text.contains("value=\"mine\"") && text.contains("value=\"gopher://x\""),
        "what was typed: {text}"
    );
    let half = [("name", "mine"), ("url", &sink.url("/in")), ("event_type_pattern", "or der")];
    let bad = browser.change("/destinations", &half);
    let text = String::from_utf8(bad.body).unwrap();
    assert!(text.contains("event_type_pattern-problem") && text.contains("value=\"or der\""), "{text}");
    assert_eq!(api.get("/v1/destinations").data(200), json!([]), "nothing is half made");
    let fields = [("name", "mine"), ("url", &*sink.url("/in"))];
    let made = browser.change("/destinations", &fields);
    let (place, shown) = (next(&made), browser.shown_once(&made));
    assert!(shown.contains("New signing secret, shown only once: <code>whsec_"), "{shown}");
    assert!(browser.page(&place).contains("mine") && !browser.page(&place).contains("whsec_"));
    let again = String::from_utf8(browser.change("/destinations", &fields).body).unwrap();
    assert!(again.contains("A destination with this name already exists"), "{again}");
    assert!(api.get("/v1/destinations").data(200).as_array().unwrap().len() == 1, "{again}");
    next(&browser.change("/sources", &[("name", "shop")]));
    let sources = browser.page("/sources");
    let (_, rest) = sources.rsplit_once("/ingest/").expect("a URL to post to");
    let path = format!("/ingest/{}", rest.split('<').next().unwrap());
    let id = api.send(&path, &[("x-event-type", "order.created")], b"{\"n\":1}");
    api.event_once(&id, "delivered");

    assert!(browser.page("/events").contains(&id));
    assert!(!browser.page("/events?event_type=other").contains(&id));
    let event = browser.page(&format!("/events/{id}"));
    for part in ["order.created", "delivered", "responded 200", "&#34;n&#34;: 1", "mine"] {
        assert!(event.contains(part), "{part} is not in {event}");
    }
    let again = next(&browser.change(&format!("/events/{id}/replay"), &[]));
    sink.wait_for("/in", 2);
    assert!(browser.page(&again).contains(&id), "it says of which event it is the replay");
}

#[test]
fn dead_letters_are_counted_before_they_are_sent_again() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500));
    let (_, path) = api.source();
    let policy = json!({ "retry_policy": { "max_attempts": 1 } });
    let destination = api.destination(&sink.url("/in"), &policy);
    let ids: Vec<String> = (0..3).map(|_| api.send(&path, &[], b"{}")).collect();
    ids.iter().for_each(|id| drop(api.event_once(id, "dead_letter")));

    let browser = Browser::signed_in(&api);
    let letters = browser.page(&format!("/dead-letters?destination_id={destination}"));
    ids.iter().for_each(|id| assert!(letters.contains(id), "{id}"));
    let filter = [("destination_id", destination.as_str()), ("event_type", ""), ("reason", "")];
    let asked = browser.change("/replays", &filter);
    assert!(String::from_utf8_lossy(&asked.body).contains("Replay 3 dead letters?"), "{asked}");
    assert_eq!(api.get("/v1/replays").data(200), json!([]), "nothing was begun");

    sink.always("/in", Reply::status(200));
    let job = next(&browser.change("/replays", &[filter[0], ("confirmed", "yes")]));
    wait_until("all were sent again", || browser.page(&job).contains("3 of 3 replayed").then_some(()));
    ids.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    assert!(browser.page("/replays").contains(job.trim_start_matches("/replays/")));
}

#[test]
fn dead_letters_are_selected_exported_and_discarded() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500));
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "name": "ledger", "retry_policy": { "max_attempts": 1 } }));
    let ids: Vec<String> = (0..3).map(|_| api.send(&path, &[], b"{}")).collect();
    ids.iter().for_each(|id| drop(api.event_once(id, "dead_letter")));
    let letters = || api.get("/v1/dead-letters").data(200)["items"].as_array().unwrap().clone();
    let browser = Browser::signed_in(&api);
    let page = browser.page("/dead-letters");
    let group = page.split("By destination and reason").nth(1).unwrap().split("</table>").next().unwrap();
    for part in ["ledger", "all attempts failed", ">3</a>", "The receiver responded 500."] {
        assert!(group.contains(part), "{part} is not in {group}");
    }
    let counted = api.get("/v1/dead-letters/groups").data(200);
    assert_eq!((&counted["items"][0]["count"], &counted["truncated"]), (&json!(3), &json!(false)));
    let file = browser.send("GET", "/dead-letters/export?reason=attempts", &[], "");
    assert_eq!(file.headers.get("x-content-type-options"), Some("nosniff"));
    assert_eq!(file.headers.get("content-disposition"), Some("attachment; filename=\"dead-letters.jsonl\""));
    assert_eq!(String::from_utf8_lossy(&file.body).lines().count(), 3);

    let chosen: Vec<String> =
        letters().iter().take(2).map(|letter| letter["delivery_id"].as_str().unwrap().to_owned()).collect();
    let fields: Vec<(&str, &str)> =
        chosen.iter().map(|id| ("delivery_ids", id.as_str())).chain([("selected", "yes")]).collect();
    let asked = browser.change("/dead-letters/discard", &fields);
    assert!(String::from_utf8_lossy(&asked.body).contains("Discard 2 dead letters?"), "{asked}");
    assert_eq!(letters().len(), 3, "it only asked");
    let confirmed: Vec<_> = fields.iter().copied().chain([("confirmed", "yes")]).collect();
    next(&browser.change("/dead-letters/discard", &confirmed));
    assert_eq!(letters().len(), 1);
    let last = format!("/dead-letters/{}/discard", letters()[0]["delivery_id"].as_str().unwrap());
    let asked = browser.change(&last, &[]);
    assert!(String::from_utf8_lossy(&asked.body).contains("Discard this dead letter?"), "{asked}");
    assert_eq!(letters().len(), 1, "it only asked");
    next(&browser.change(&last, &[("confirmed", "yes")]));
    assert_eq!(letters().len(), 0);
    assert_eq!(browser.change(&last, &[]).status, 404);
    // Neither nothing selected nor no filter means all.
    assert_eq!(browser.change("/replays", &[("selected", "yes")]).status, 422);
    assert_eq!(browser.change("/dead-letters/discard", &[]).status, 422);
}

#[test]
fn a_destination_is_paused_changed_tried_and_deleted() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "a", "url": sink.url("/in") }));
    let browser = Browser::signed_in(&api);
    let page = format!("/destinations/{id}");
    let state = |field: &str| api.get(&format!("/v1/destinations/{id}")).data(200)[field].clone();
    next(&browser.change(&format!("{page}/pause"), &[]));
    assert_eq!(state("status"), "paused");
    next(&browser.change(&format!("{page}/resume"), &[]));
    assert_eq!(state("status"), "active");
    next(&browser.change(&format!("{page}/open"), &[]));
    assert_eq!(state("circuit_state"), "open");
    next(&browser.change(&format!("{page}/close"), &[]));
    assert_eq!(state("circuit_state"), "closed");
    next(&browser.change(&page, &[("name", "b"), ("max_concurrency", "9")]));
    assert_eq!((state("name"), state("max_concurrency")), (json!("b"), json!(9)));
    for bad in ["0", "-1", "many", "9999999999999999999999"] {
        let answer = browser.change(&page, &[("max_concurrency", bad)]);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(text.contains("max_concurrency") && text.contains("role=\"alert\""), "{bad}: {text}");
    }
    next(
        &browser.change(
            &page,
            &[("rate_limit.per_second", "2.5"), ("rate_limit.burst", "10"), ("adaptive", "no")],
        ),
    );
    assert_eq!((&state("rate_limit")["per_second"], state("adaptive")), (&json!(2.5), json!(false)));
    let text = browser.page(&page);
    for sentence in [
        "At most 9 concurrent attempts.",
        "At most 2.5 attempts per second, evenly spaced, with bursts of up to 10",
    ] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
    next(&browser.change(&page, &[("rate_limit.per_second", ""), ("rate_limit.burst", "")]));
    assert_eq!(state("rate_limit"), json!(null));
    let tried = browser.shown_once(&browser.change(&format!("{page}/test"), &[]));
    assert!(tried.contains("Test event: responded 200"), "{tried}");
    let asked = browser.change(&format!("{page}/rotate-secret"), &[]);
    let text = String::from_utf8_lossy(&asked.body).into_owned();
    assert!(
        text.contains("Rotate the signing secret of b?") && text.contains("keeps working for 24 hours"),
        "{text}"
    );
    let rotations = || {
        let log = api.get(&format!("/v1/audit?object_id={id}")).data(200)["items"].to_string();
        log.matches("/rotate-secret\"").count()
    };
    assert_eq!((asked.status, rotations()), (200, 0), "it only asked");
    let rotated = browser.change(&format!("{page}/rotate-secret"), &[("confirmed", "yes")]);
    assert_eq!(next(&rotated), page, "what is loaded again makes no other");
    assert!(browser.shown_once(&rotated).contains("New signing secret, shown only once: <code>whsec_"));
    assert!(!browser.page(&page).contains("whsec_"), "it is shown once");
    assert_eq!(rotations(), 1);
    let asked = browser.change(&format!("{page}/delete"), &[]);
    let text = String::from_utf8_lossy(&asked.body).into_owned();
    assert!(text.contains("Delete b?") && text.contains("become dead letters"), "{text}");
    browser.page(&page);
    assert_eq!(next(&browser.change(&format!("{page}/delete"), &[("confirmed", "yes")])), "/destinations");
    assert_eq!(browser.send("GET", &page, &[], "").status, 404);
}

#[test]
fn what_waits_for_one_destination_is_told_by_its_own_deliveries() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/down", Reply::status(503));
    let slow = json!({ "name": "down", "retry_policy": { "delays_seconds": [3600], "max_attempts": 5 } });
    let down = api.destination(&sink.url("/down"), &slow);
    let paused = api.destination(&sink.url("/paused"), &json!({ "name": "paused" }));
    api.post(&format!("/v1/destinations/{paused}/pause"), &json!({})).data(200);
    let good = api.destination(&sink.url("/good"), &json!({ "name": "good" }));
    let (_, path) = api.source();
    let event = api.send(&path, &[("x-event-type", "order.paid")], b"{}");
    sink.wait_for("/good", 1);
    let status = |destination: &str| {
        let listed = api.get(&format!("/v1/deliveries?destination_id={destination}")).data(200);
        listed["items"][0]["status"].as_str().unwrap().to_owned()
    };
    let states = || (status(&down), status(&paused), status(&good));
    let expected = ("retry_scheduled".to_owned(), "queued".to_owned(), "delivered".to_owned());
    wait_until("each is as it will be", || (states() == expected).then_some(()));
    let browser = Browser::signed_in(&api);
    let behind = |destination: &str, words: &str| {
        let page = browser.page(&format!("/destinations/{destination}"));
        let link = page.split(&format!("\">{words}</a>")).next().unwrap();
        let place = link.rsplit("href=\"").next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
        browser.page(&place)
    };
    for (destination, waits, again) in [(&down, false, true), (&paused, true, false), (&good, false, false)] {
        assert_eq!(behind(destination, "View queued").contains(&event), waits, "{destination}");
        assert_eq!(behind(destination, "View retries").contains(&event), again, "{destination}");
    }
    assert!(browser.page("/deliveries?event_type=order.*").contains(&event));
    assert!(!browser.page("/deliveries?event_type=other").contains(&event));
    let bad = browser.send("GET", "/deliveries?since=yesterday", &[], "");
    assert!(String::from_utf8_lossy(&bad.body).contains("since must be a time"), "{bad}");
}

#[test]
fn limits_of_a_destination_are_changed_and_the_api_speaks_beside_the_field() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "a", "url": "https://example.com/" }));
    let browser = Browser::signed_in(&api);
    let page = format!("/destinations/{id}");
    let state = |field: &str| api.get(&format!("/v1/destinations/{id}")).data(200)[field].clone();
    let circuit = |threshold, cooldown| {
        [
            ("circuit.threshold", threshold),
            ("circuit.cooldown_seconds", cooldown),
            ("circuit.cooldown_max_seconds", ""),
        ]
    };
    next(&browser.change(&page, &circuit("7", "60")));
    let expected = json!({ "threshold": 7, "cooldown_seconds": 60, "cooldown_max_seconds": 900 });
    assert_eq!(state("circuit"), expected);
    next(&browser.change(&page, &[("retry_policy", "waford")]));
    assert_eq!(state("retry_policy")["backoff"], "exponential");
    assert_eq!(state("circuit"), expected, "what was not in the form stays");
    let shown = browser.page(&page);
    for part in ["value=\"7\"", "After 7 failures in a row, its circuit opens", "4 attempts in all"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    next(&browser.change(&page, &circuit("", "")));
    assert_eq!(state("circuit")["failure_percent"], 100);
    assert!(browser.page(&page).contains("When 100 % of the last 150 attempts failed, its circuit opens"));
    let by_rate = [("circuit.failure_percent", "60"), ("circuit.window_attempts", "20")];
    next(&browser.change(&page, &by_rate));
    assert_eq!(
        (&state("circuit")["failure_percent"], &state("circuit")["window_attempts"]),
        (&json!(60), &json!(20))
    );
    for (field, bad) in [
        ("rate_limit.per_second", "fast"),
        ("rate_limit.per_second", "-1"),
        ("rate_limit.burst", "0"),
        ("circuit.threshold", "0"),
        ("circuit.cooldown_seconds", "1e9"),
        ("retry_policy", "often"),
        ("timeout_seconds", "999"),
        ("url", "gopher://x"),
    ] {
        let rate = ("rate_limit.per_second", "5");
        let fields = if field == "rate_limit.burst" { vec![rate, (field, bad)] } else { vec![(field, bad)] };
        let answer = browser.change(&page, &fields);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let beside = format!("id=\"{field}-problem\" role=\"alert\">{field}");
        assert!(text.contains(&beside), "{field} = {bad}: {text}");
        assert!(field == "retry_policy" || text.contains(&format!("value=\"{bad}\"")), "{bad} is lost");
    }
    assert_eq!((state("rate_limit"), state("timeout_seconds")), (json!(null), json!(10)));
}

#[test]
fn an_event_is_sent_to_another_url_once_and_within_the_rules() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/own"), &json!({}));
    let event = api.send(&path, &[("x-shop", "one")], b"{\"n\":1}");
    api.event_once(&event, "delivered");
    // As much of it as there is room for until it is shown, whatever it takes to write it.
    let answer = [b"<b>teapot</b>".as_slice(), &b"\x1b\\".repeat(50_000)].concat();
    sink.always("/debug", Reply::status(418).body(&answer));
    let browser = Browser::signed_in(&api);
    let page = format!("/events/{event}");
    let shown = browser.page(&page);
    assert!(shown.contains("once, now, unsigned"), "it says what happens before: {shown}");
    let sent = browser.change(&format!("{page}/send"), &[("url", &sink.url("/debug"))]);
    let text = browser.shown_once(&sent);
    for part in ["responded 418", "&#60;b&#62;teapot", "Sent to another URL"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let arrived = sink.wait_for("/debug", 1);
    assert_eq!((arrived.len(), arrived[0].body.as_slice()), (1, b"{\"n\":1}".as_slice()));
    assert_eq!(arrived[0].headers.get("x-shop"), Some("one"));
    assert_eq!(arrived[0].headers.get("webhook-signature"), None);
    assert_eq!(sink.arrivals_at("/own").len(), 1, "its destinations are not sent anything");
    assert_eq!(api.event(&event)["attempts"].as_array().unwrap().len(), 1, "nothing of it is kept");
    for bad in ["", "gopher://x", "http://169.254.169.254/", "http://u:p@example.com/"] {
        let answer = browser.change(&format!("{page}/send"), &[("url", bad)]);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(text.contains("id=\"url-problem\" role=\"alert\">url "), "{bad}: {text}");
    }
    assert_eq!(browser.change("/events/evt_0000000000000/send", &[("url", &sink.url("/debug"))]).status, 404);
    assert_eq!(sink.arrivals_at("/debug").len(), 1);
}

#[test]
fn a_key_is_shown_once() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let text = browser.shown_once(&browser.change("/keys", &[("name", "ci"), ("scope", "read")]));
    let (_, rest) = text.split_once("shown only once: <code>").expect("the key");
    let key = rest.split('<').next().unwrap();
    api.with_key(key).get("/v1/destinations").data(200);
    assert!(!browser.page("/keys").contains(key));
    let (_, rest) = text.split_once("/keys/").expect("a way to revoke it");
    let revoke = format!("/keys/{}", rest.split('"').next().unwrap());
    let asked = browser.change(&revoke, &[]);
    assert!(String::from_utf8_lossy(&asked.body).contains("Revoke ci?"), "{asked}");
    api.with_key(key).get("/v1/destinations").data(200);
    next(&browser.change(&revoke, &[("confirmed", "yes")]));
    api.with_key(key).get("/v1/destinations").refusal(401);
}

#[test]
fn what_came_from_outside_is_shown_as_text() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500).body(HOSTILE.as_bytes()));
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/in"), &json!({ "name": "<script>alert(3)</script>" }));
    let event = api.send(&path, &[("x-hostile", "<script>alert(4)</script>")], HOSTILE.as_bytes());
    sink.wait_for("/in", 1);
    api.event_once(&event, "retry_scheduled");
    let browser = Browser::signed_in(&api);
    let places = [
        format!("/events/{event}"),
        format!("/destinations/{id}"),
        format!("/events?text={}", "%3Cscript%3E"),
    ];
    for page in PAGES.iter().map(|page| (*page).to_owned()).chain(places) {
        let text = browser.page(&page);
        for tag in ["<script>", "<svg onload"] {
            assert!(!text.contains(tag), "{page} has {tag}");
        }
    }
    let file = browser.send("GET", &format!("/events/{event}/body"), &[], "");
    assert_eq!(file.body, HOSTILE.as_bytes());
    assert_eq!(file.headers.get("content-type"), Some("text/plain; charset=utf-8"));
    assert!(file.headers.get("content-disposition").unwrap().starts_with("attachment"));
}

#[test]
fn a_large_body_does_not_make_a_large_page() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let browser = Browser::signed_in(&api);
    // On one line: as large as an event can be, and what costs most to show.
    for body in [vec![b'x'; 5_000_000], format!("[{}0]", "\"'<>&\\\"\",".repeat(20_000)).into_bytes()] {
        let id = api.send(&path, &[], &body);
        let page = browser.page(&format!("/events/{id}"));
        assert!(page.len() < 100_000, "{} bytes", page.len());
        assert!(page.contains("Only the beginning is shown."));
        assert_eq!(browser.send("GET", &format!("/events/{id}/body"), &[], "").body, body);
    }
}
