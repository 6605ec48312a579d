//! The portal in a real browser, as somebody has it who got a link.

use super::every_page::{HOSTILE, HOSTILE_LINE, look_at};
use super::was_quiet;
use crate::rig::api::text;
use crate::rig::chromium::Tab;
use crate::rig::{Reply, Sink, Site};
use serde_json::json;

#[test]
fn a_user_of_the_portal_comes_by_a_link_and_sees_what_became_of_events() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let made = gateway.api().post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let api = gateway.api().with_key(&text(&made["api_key"]["key"]));
    let link = text(&api.post("/v1/portal-sessions", &json!({})).data(201)["url"]);
    let origin = format!("http://{}", api.address);
    let mut tab = Tab::open(&origin);
    tab.go(link.strip_prefix(&origin).expect("the link leads here"));
    tab.press("Open the portal");
    tab.arrive("/portal/destinations");
    assert_eq!(tab.value("location.hash"), "", "the token is gone from the address");
    tab.fill("input[name=name]", "mine");
    tab.fill("input[name=url]", &sink.url("/in"));
    tab.press("Create destination");
    tab.arrive("/portal/destinations/dst_");
    let destination = tab.value("location.pathname");

    sink.always("/bad", Reply::status(500).header("x-answer", HOSTILE_LINE).body(HOSTILE.as_bytes()));
    let policy = json!({ "name": HOSTILE_LINE, "retry_policy": { "max_attempts": 1 } });
    api.destination(&sink.url("/bad"), &policy);
    let (_, path) = api.source();
    tab.go("/portal/events");
    let event = api.send(&path, &[("x-event-type", "order.created")], HOSTILE.as_bytes());
    // Seen without a reload, and nothing of it runs.
    tab.read("order.created");
    api.event_once(&event, "dead_letter");
    let logo = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI0MCIgaGVpZ2h0PSI0MCI+PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0PjxjaXJjbGUgY3g9IjIwIiBjeT0iMjAiIHI9IjE4IiBmaWxsPSIjMGE3ZjNjIi8+PC9zdmc+";
    let brand = json!({
        "company_name": HOSTILE_LINE, "primary_color": "#ffe000", "support_email": "help@shop.test",
        "logo_url": format!("data:image/svg+xml;base64,{logo}"),
    });
    api.post("/v1/brand-settings", &brand).data(200);
    tab.go("/portal/events");
    tab.read("order.created");
    tab.wait("document.querySelector('img.logo')?.naturalWidth === 40");
    let pages = [
        ("portal-destinations", "/portal/destinations".to_owned()),
        ("portal-destination", text(&destination)),
        ("portal-events", "/portal/events".to_owned()),
        ("portal-event", format!("/portal/events/{event}")),
        ("portal-dead-letters", "/portal/dead-letters".to_owned()),
        ("portal-nothing", "/portal/events/evt_0".to_owned()),
        ("portal-entry", "/portal".to_owned()),
    ];
    let found: Vec<String> = pages.iter().flat_map(|(name, path)| look_at(&mut tab, name, path)).collect();
    assert!(found.is_empty(), "{found:#?}");
    was_quiet(&mut tab, &api, &[]);
}
