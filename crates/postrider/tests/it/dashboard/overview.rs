//! The overview and what the lists draw: figures that were counted beforehand stand where they belong.

use super::browser::Browser;
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::json;

/// The words of a piece of a page.
fn words(html: &str) -> String {
    let pieces = html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands on the page behind a heading or a name, up to the end of what holds it.
pub(super) fn behind<'a>(page: &'a str, before: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before} is not in {page}"));
    rest.split(end).next().unwrap()
}

fn tile(page: &str, name: &str) -> String {
    words(behind(page, &format!("<dt>{name}</dt>"), "</div>"))
}

/// The rows of the table behind a heading, in words.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let body = behind(behind(page, heading, "</table>"), "<tbody>", "</tbody>");
    let cells = |row: &str| row.split("<td").skip(1).map(|cell| words(&format!("<td{cell}"))).collect();
    body.split("<tr>").skip(1).map(cells).collect()
}

/// Three events that arrive and are critical, three that fail for good, three of bulk that wait.
fn fill(api: &Api, sink: &Sink) {
    sink.always("/bad", Reply::status(500));
    let (_, path) = api.source();
    let dies = json!({ "retry_policy": { "max_attempts": 1 }, "circuit": { "threshold": 10_000 } });
    for (name, priority, settings) in [("good", 1, json!({})), ("bad", 3, dies), ("waits", 4, json!({}))] {
        let mut settings = settings;
        settings["name"] = json!(name);
        settings["url"] = json!(sink.url(&format!("/{name}")));
        let id = api.make("/v1/destinations", &settings);
        let route = json!({ "destination_id": id, "event_type_pattern": name, "priority": priority });
        api.make("/v1/routes", &route);
        if name == "waits" {
            api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
        }
        let ended = match name {
            "good" => "delivered",
            "bad" => "dead_letter",
            _ => "queued",
        };
        for _ in 0..3 {
            let event = api.send(&path, &[("x-event-type", name)], b"{}");
            api.event_once(&event, ended);
        }
    }
}

#[test]
fn the_overview_shows_what_was_counted() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--slots", "40"]));
    let gateway = site.start();
    let api = gateway.api();
    fill(&api, &sink);
    let browser = Browser::signed_in(&api);
    let page = wait_until("all of it is counted", || {
        let page = browser.page("/");
        let minutes = rows(&page, "Last hour by minute");
        let sum =
            |column: usize| minutes.iter().filter_map(|row| row[column].parse::<u64>().ok()).sum::<u64>();
        // Events in, delivered, failed, given up.
        ([1, 2, 3, 4].map(sum) == [9, 3, 3, 3]).then_some(page)
    });
    for (name, figure) in [
        ("Success rate, last hour", "50.0 %"),
        ("Pending", "3"),
        ("Slots in use", "0 / 40"),
        ("Events accepted", "9"),
        ("Delivered", "3"),
    ] {
        assert_eq!(tile(&page, name), figure, "{name} in {page}");
    }
    assert!(tile(&page, "Events in").ends_with(" / s") && tile(&page, "Oldest pending") != "–", "{page}");
    let waiting = rows(&page, "Pending by priority");
    let counts: Vec<(&str, &str)> = waiting.iter().map(|row| (row[0].as_str(), row[2].as_str())).collect();
    assert_eq!(counts, [("1, critical", "0"), ("2, high", "0"), ("3, normal", "0"), ("4, bulk", "3")]);
    assert!(behind(&page, "4, bulk</td>", "</tr>").contains("aria-label=\"100 %\""), "{page}");
    let took = rows(&page, "Delivery latency, last 6 hours");
    let critical = took.iter().find(|row| row[0] == "1, critical").unwrap();
    assert_eq!(critical[1], "3", "{took:?}");
    assert!(critical[2..].iter().all(|time| time.ends_with(" ms") || time.ends_with(" s")), "{took:?}");
    let worst = rows(&page, "Largest backlogs");
    let (first, figures) = (&worst[0], [&worst[0][2], &worst[0][3], &worst[0][5]]);
    assert!(first[0] == "waits" && figures == ["closed", "paused", "3"], "{worst:?}");
    let states = rows(&page, "Deliveries by status");
    for (state, count) in [("delivered", "3"), ("dead letter", "3"), ("queued", "3")] {
        assert!(states.iter().any(|row| row == &[state, count]), "{states:?}");
    }
    // What can be pointed at is drawn, has words, and stands in a table as well.
    for (chart, drawn) in [
        ("Events in,", " events</title>"),
        ("Attempts: delivered, with failed on top,", " delivered, "),
        ("Pending deliveries,", ": 3 pending</title>"),
        ("Delivery latency (p95),", " ms</title>"),
        ("Delivered, with dead letters on top,", ": 3 delivered, 3 dead letters</title>"),
    ] {
        let svg = behind(&page, &format!("role=\"img\" aria-label=\"{chart}"), "</svg>");
        assert!(svg.contains(drawn) && svg.contains("<rect x="), "{chart}: {svg}");
    }
    assert_eq!(rows(&page, "Finished deliveries by day").last().unwrap()[3..], ["3", "3"]);
}

#[test]
fn the_overview_shows_events_that_no_route_took_and_leads_to_them() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    assert!(!browser.page("/").contains("Matched no route"), "there is none yet");
    let (_, path) = api.source();
    let ids = [1, 2].map(|_| api.send(&path, &[], b"{}"));
    let page = browser.page("/");
    assert_eq!(tile(&page, "Matched no route"), "2", "{page}");
    let link = behind(behind(&page, "<dt>Matched no route</dt>", "</div>"), "href=\"", "\"");
    let listed = browser.page(link);
    assert!(ids.iter().all(|id| listed.contains(id)), "{listed}");
}

#[test]
fn an_account_sees_the_hour_of_its_own_destinations() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let made = gateway.api().post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let tenant = gateway.api().with_key(made["api_key"]["key"].as_str().unwrap());
    fill(&tenant, &sink);
    // Of somebody else; nothing of it is told.
    let (_, path) = gateway.api().source();
    gateway.api().destination(&sink.url("/in"), &json!({}));
    let theirs = gateway.api().send(&path, &[], b"{}");
    gateway.api().event_once(&theirs, "delivered");
    let operator = Browser::signed_in(&gateway.api());
    let account = made["account"]["id"].as_str().unwrap();
    operator.change("/look", &[("account", account), ("next", "/")]);
    for browser in [Browser::signed_in(&tenant), operator] {
        let page = browser.page("/");
        let minutes = rows(&page, "Last hour by minute");
        let sum =
            |column: usize| minutes.iter().filter_map(|row| row[column].parse::<u64>().ok()).sum::<u64>();
        // Delivered, failed.
        assert_eq!((minutes.len(), [1, 2].map(sum)), (60, [3, 3]), "{page}");
        for (name, figure) in [
            ("Success rate, last hour", "50.0 %"),
            ("Events accepted", "9"),
            ("Delivered", "3"),
            ("Pending", "3"),
        ] {
            assert_eq!(tile(&page, name), figure, "{name} in {page}");
        }
        let svg =
            behind(&page, "role=\"img\" aria-label=\"Attempts: delivered, with failed on top,", "</svg>");
        assert!(svg.contains(" delivered, ") && svg.contains("<rect x="), "{svg}");
        assert!(!page.contains("Deliveries out"), "that is told of the whole gateway alone: {page}");
    }
}

#[test]
fn a_list_draws_the_last_hour_of_each_destination() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    fill(&api, &sink);
    let browser = Browser::signed_in(&api);
    let page = browser.page("/destinations");
    let row = |name: &str| behind(&page, &format!("\">{name}</a>"), "</tr>");
    for (name, title, good, bad) in [
        ("good", "Last hour: 3 delivered, 0 failed", true, false),
        ("bad", "Last hour: 0 delivered, 3 failed", false, true),
    ] {
        let drawn = row(name);
        assert!(drawn.contains(&format!("<title>{title}</title>")), "{drawn}");
        let is_drawn = |class: &str| drawn.contains(&format!("<path class=\"{class}\" d=\"M"));
        assert_eq!((is_drawn("good"), is_drawn("bad")), (good, bad), "{drawn}");
    }
    assert!(row("waits").contains("nothing sent"), "{page}");
}
